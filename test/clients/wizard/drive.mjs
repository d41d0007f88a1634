// Goes through the wizard of the console in a browser, by what its pages show, as a user with three machines does:
//
//   drive.mjs SERVICE   the service's address, to which /api is passed on
//   CONSOLE             folder of the built console
//   PLAYWRIGHT          folder with node_modules/playwright-core
//   CHROMIUM            the browser's program
//
// It ends with an error at the first page that does not appear, fault of a page or refusal of the service. `sh boot.sh CLUSTER
// INFRA_ENV` boots the machines.
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { createRequire } from 'node:module';
import { extname, join } from 'node:path';

const { chromium } = createRequire(join(process.env.PLAYWRIGHT, 'index.js'))('playwright-core');
const service = process.argv[2];
const api = async (path) => (await fetch(`${service}/api/assisted-install/v2/${path}`)).json();
const fail = (text) => { throw new Error(text); };
const seen = new Set();
const faults = [];

// The console is served as its own web server does: files, the page for every other address, and the API behind it.
const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };
const server = createServer(async (req, res) => {
  if (/^\/+api\//.test(req.url)) {
    const { hostname, port } = new URL(service);
    req.pipe(request({ hostname, port, path: req.url, method: req.method, headers: req.headers }, (answer) => {
      seen.add(`${req.method} ${req.url.split('?')[0].replace(/[0-9a-f-]{36}/g, '{id}')}`);
      if (answer.statusCode >= 400) faults.push(`${req.method} ${req.url}: ${answer.statusCode}`);
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    }));
    return;
  }
  const path = req.url.split('?')[0];
  const file = extname(path) ? path : '/index.html';
  try {
    const body = await readFile(join(process.env.CONSOLE, file));
    res.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' });
    res.end(body);
  } catch {
    res.writeHead(404).end();
  }
});
await new Promise((listening) => { server.listen(0, '127.0.0.1', listening); });
const console_ = `http://127.0.0.1:${server.address().port}/assisted-installer/clusters`;

// --no-sandbox: Chromium refuses to run as root with its sandbox.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1400, height: 1300 }, acceptDownloads: true });
page.setDefaultTimeout(600_000); // other tests keep the machine busy
page.on('pageerror', (error) => faults.push(`page: ${error}`));

const fill = (name, text) => page.locator(`:is(input, textarea)[name="${name}"]`).first().fill(text);
const next = async () => page.locator('button[name=next]:not([disabled])').click();
const shows = (text) => page.getByText(text).first().waitFor();
const ready = (hosts) => page.getByText('Ready', { exact: true }).nth(hosts - 1).waitFor();

// details is the first page, with which a cluster and its InfraEnv are registered.
async function details(name, network) {
  await page.goto(`${console_}/~new`);
  await fill('name', name);
  await fill('baseDnsDomain', 'example.com');
  await fill('pullSecret', '{"auths":{"registry.example.com":{"auth":"dXNlcjpwYXNz"}}}');
  await page.locator(`#form-radio-hostsNetworkConfigurationType-${network}-field`).click();
  await next();
}

async function defined(name) {
  const cluster = (await api('clusters')).find((c) => c.name === name) ?? fail(`no cluster ${name}`);
  const [env] = await api(`infra-envs?cluster_id=${cluster.id}`);
  return { cluster, env };
}

async function install() {
  await page.goto(console_);
  await shows('Assisted Clusters');
  await details('wizard', 'dhcp');
  await shows('Single Operators');
  await next();
  await shows('Waiting for host...');
  const { cluster, env } = await defined('wizard');
  execFileSync('sh', ['boot.sh', cluster.id, env.id]);
  await ready(3);
  await next();
  await shows('All bootable disks, except for read-only disks, will be formatted during installation.');
  await next();
  await fill('apiVips.0.ip', '192.168.117.5');
  await fill('ingressVips.0.ip', '192.168.117.6');
  await ready(3);
  await next();
  await shows('Preflight checks');
  await page.locator('button[name=install]:not([disabled])').click();
  await shows('Installation progress');
  await shows('Installation completed successfully');
  await shows('https://console-openshift-console.apps.wizard.example.com');
  const download = page.waitForEvent('download');
  await page.locator('#cluster-detail-button-download-kubeconfig').click();
  const file = await download;
  const kubeconfig = await readFile(await file.path(), 'utf8');
  if (!kubeconfig.includes('clusters:')) fail(`no kubeconfig: ${kubeconfig.slice(0, 100)}`);
  console.log(`installed, ${file.suggestedFilename()}`);
}

// staticNetworks fills in the form view; the console sends placeholders when its first page is left.
async function staticNetworks({ vlan, dual, bond }) {
  const name = `static-${[vlan && 'vlan', dual && 'dual', bond && 'bond'].filter(Boolean).join('-') || 'plain'}`;
  await details(name, 'static');
  await shows('Network-wide configurations');
  const placeholder = (await defined(name)).env.static_network_config;
  if (!placeholder.includes('0.0.0.0')) fail(`${name}: the console sent no placeholder: ${placeholder}`);
  if (dual) await page.locator('#form-radio-protocolType-dualStack-field').click();
  if (vlan) {
    await page.locator('input[name=useVlan]').click();
    await fill('vlanId', '117');
  }
  await fill('dns', '192.168.118.1');
  for (const [family, network] of [['ipv4', ['192.168.118.0', '24', '192.168.118.1']], ['ipv6', ['2001:db8:118::', '64', '2001:db8:118::1']]]) {
    if (family === 'ipv6' && !dual) continue;
    await fill(`ipConfigs.${family}.machineNetwork.ip`, network[0]);
    await fill(`ipConfigs.${family}.machineNetwork.prefixLength`, network[1]);
    await fill(`ipConfigs.${family}.gateway`, network[2]);
  }
  await next();
  await shows('Host 1');
  if (bond) {
    await page.locator('input[name="hosts[0].useBond"]').click();
    await fill('hosts[0].bondPrimaryInterface', '02:00:00:00:00:01');
    await fill('hosts[0].bondSecondaryInterface', '02:00:00:00:00:02');
  } else {
    await fill('hosts[0].macAddress', '02:00:00:00:00:01');
  }
  await fill('hosts[0].ips.ipv4', '192.168.118.20');
  if (dual) await fill('hosts[0].ips.ipv6', '2001:db8:118::20');
  await next();
  await shows('Single Operators');
  const [host, ...others] = JSON.parse((await defined(name)).env.static_network_config);
  const text = JSON.stringify(host).toLowerCase();
  const wanted = ['02:00:00:00:00:01', '192.168.118.20', vlan && '117', dual && '2001:db8:118::20', bond && 'bond'].filter(Boolean);
  if (others.length || wanted.some((w) => !text.includes(w)) || /0\.0\.0\.0"|dummy|01:23:45:67/.test(text)) {
    fail(`${name}: require one host with ${wanted}, found ${text}`);
  }
  console.log(`${name} stored`);
}

try {
  await install();
  for (const vlan of [false, true]) {
    for (const dual of [false, true]) {
      for (const bond of [false, true]) await staticNetworks({ vlan, dual, bond });
    }
  }
  if (faults.length) fail('faults on the way');
  console.log(`${seen.size} kinds of requests, none refused`);
} catch (error) {
  console.error(String(error));
  console.error(faults.join('\n'));
  console.error((await page.locator('body').innerText()).slice(0, 3000));
  console.error(await page.locator('input').evaluateAll((all) => all.map((i) => i.name).join(' ')));
  process.exitCode = 1;
}
await browser.close();
server.close();
server.closeAllConnections();
