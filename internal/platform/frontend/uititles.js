(() => {
  // A page of one workflow is titled "TAB | WORKFLOW ID", again at each of its tabs.
  const place = /^(.*)\/namespaces\/([^/]+)\/workflows\/([^/]+)\/([^/]+)/;
  const labels = new Map(); // by the path of a run

  async function label([run, base, namespace, workflow, id]) {
    const answer = await fetch(`${base}/api/v1/namespaces/${namespace}/workflows/${workflow}?execution.runId=${id}`);
    if (!answer.ok) return '';
    const { workflowExecutionInfo: info } = await answer.json();
    const name = (attribute) => {
      const value = info?.searchAttributes?.indexedFields?.[attribute]?.data;
      return value ? JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(value), (c) => c.charCodeAt(0)))) : '';
    };
    return [name('HostName'), name('ClusterName')].filter(Boolean).join(' in ');
  }

  async function retitle() {
    const run = location.pathname.match(place);
    const id = run && decodeURIComponent(run[3]);
    if (!id || !document.title.includes(id)) return;
    if (!labels.has(run[0])) labels.set(run[0], label(run).catch(() => ''));
    const name = await labels.get(run[0]);
    if (name && location.pathname.startsWith(run[0])) document.title = document.title.replace(id, name);
  }

  new MutationObserver(retitle).observe(document.head, { subtree: true, childList: true, characterData: true });
})();
