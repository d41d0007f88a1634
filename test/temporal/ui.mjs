// Works Temporal's web UI in a browser, by what its pages show alone: reads one JSON object a line from standard input,
// {"do": ACTION, ...}, and answers each with {"text": ...} or {"error": ...}. `make test-temporal` runs it.
//
//   ui.mjs URL         the service, whose /temporal is opened
//   SLIPWAY_TOKEN      a user's token, to sign in with
//   PLAYWRIGHT         folder with node_modules/playwright-core
//   CHROMIUM           the browser's program
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.env.PLAYWRIGHT, 'index.js'))('playwright-core');
const pages = `${process.argv[2]}/temporal/namespaces/slipway/workflows`;

// Pages of 1,920 by 1,200 are what fits one screen. --no-sandbox: Chromium refuses to run as root with its sandbox.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
// The certificate is of the service's own authority, which a person looks at once.
const page = await browser.newPage({ viewport: { width: 1920, height: 1200 }, ignoreHTTPSErrors: true });
page.setDefaultTimeout(600_000); // other tests keep the machine busy
await page.goto(`${process.argv[2]}/temporal/`);
await page.locator('#token').fill(process.env.SLIPWAY_TOKEN);
await page.getByRole('button', { name: 'Sign in' }).click();
await page.waitForURL(/\/temporal\/(?!login)/);

const dialog = () => page.getByRole('dialog').locator('visible=true').first();
// sealed begins what the codec has not opened yet: the encoding of internal/service/orchestrator, in base64.
const sealed = 'YmluYXJ5L3NsaXB3YXktc2VhbGVk';
const opened = () => page.waitForFunction((sealed) => !document.querySelector('main').innerText.includes(sealed), sealed);
const shown = async (pattern) => {
  await page.locator('main').getByText(pattern).first().waitFor();
  return page.locator('main').innerText();
};

async function list(query) {
  await page.goto(`${pages}?query=${encodeURIComponent(query)}`);
  await page.getByText('Add Filter').first().waitFor();
}

// resetButton is the blue button of a workflow that has ended; one that runs has Reset in its menu.
const resetButton = () => page.locator('main').getByRole('button', { name: 'Reset', exact: true }).locator('visible=true').first();

// whileItRuns presses what only a running workflow has, and fails at once when it ends meanwhile.
async function whileItRuns(press) {
  await Promise.race([press(), resetButton().waitFor().then(() => { throw new Error('the workflow has ended'); })]);
  await dialog().waitFor();
}

// menu opens a dialog of the menu beside the blue button.
const menu = (item) => whileItRuns(async () => {
  await page.getByRole('button', { name: 'More Actions' }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).locator('visible=true').first().click();
});

// option is one of a select, by its name: some have a description too.
const option = (name) => page.getByRole('option', { name, exact: true })
  .or(page.getByRole('option').filter({ has: page.getByText(name, { exact: true }) })).locator('visible=true').first();

// choose takes an option of a select in the dialog.
async function choose(select, wanted) {
  await dialog().locator(select).click({ force: true });
  await wanted.click();
}

// submit presses the button of a dialog, and returns the refusal that the dialog shows, if it stays.
async function submit(name, path) {
  const open = dialog();
  await open.getByRole('button', { name, exact: true }).click();
  const refusal = open.locator(':is([class*="danger"], [class*="error"], [role="alert"]):not(button, button *)')
    .locator('visible=true').filter({ hasText: /\w/ }).first();
  const ended = await Promise.race([
    open.waitFor({ state: 'hidden' }).then(() => ''),
    refusal.waitFor().then(() => refusal.innerText()),
  ]);
  if (ended && path) await page.screenshot({ path });
  if (ended) await page.keyboard.press('Escape');
  return ended;
}

const actions = {
  // list shows the workflows that a query finds.
  async list({ query }) {
    await list(query);
    await page.locator('main table tbody a').first().waitFor();
    return page.locator('main table tbody').innerText();
  },
  // columns returns the columns of the open list, after the column that selects.
  async columns() {
    const names = await page.locator('main table thead th').allInnerTexts();
    return names.map((name) => name.trim()).filter((name) => name && !name.startsWith('Select all')).join(', ');
  },
  async removeColumn({ name }) {
    await page.getByRole('button', { name: 'Configure Columns' }).click();
    await page.getByRole('button', { name: `Remove ${name} column` }).click();
    await page.getByRole('button', { name: /^Close .* configuration$/ }).click();
    return '';
  },
  // open follows the link of the newest run of a workflow, from the list.
  async open({ workflow }) {
    await list(`WorkflowId="${workflow}"`);
    await page.locator('main table tbody').getByRole('link', { name: workflow, exact: true }).first().click();
    await page.getByRole('button', { name: 'More Actions' }).or(page.getByRole('button', { name: 'Reset' })).first().waitFor();
    await opened();
    return page.locator('main').innerText();
  },
  // query is the result of a query of the workflow that is open.
  async query({ name }) {
    await page.locator('main').getByText('Queries', { exact: true }).first().click();
    const select = page.locator('#query-select').locator('visible=true').first();
    await select.click({ force: true });
    await option(name).click();
    await page.getByRole('button', { name: 'Run Query' }).click();
    return shown(/"State":/);
  },
  // details returns the open workflow's description of itself; each part is drawn in a frame of its own.
  async details({ text }) {
    await page.locator('main').getByText('User Metadata', { exact: true }).first().click();
    const frames = page.locator('main iframe');
    await frames.first().waitFor();
    const all = await Promise.all((await frames.all()).map((frame) => frame.contentFrame().locator('body')));
    const wanted = await Promise.any(all.map(async (body) => {
      await body.getByText(text).first().waitFor();
      return body;
    }));
    return wanted.innerText();
  },
  async update({ name, path }) {
    await menu('Send an Update');
    await choose('#update-select', option(name));
    return submit('Submit', path);
  },
  // reset begins anew after the first task of the workflow.
  async reset() {
    if (await resetButton().isVisible()) {
      await resetButton().click();
      await dialog().waitFor();
    } else {
      await menu('Reset');
    }
    await choose('#reset-event-id', page.getByRole('option', { name: /WorkflowTaskCompleted/ }).locator('visible=true').first());
    return submit('Confirm');
  },
  async terminate() {
    await menu('Terminate');
    return submit('Terminate');
  },
  async cancel() {
    await whileItRuns(() => page.getByRole('button', { name: 'Request Cancellation' }).click());
    return submit('Confirm');
  },
  // title is the browser's tab, once it has the text.
  async title({ text }) {
    await page.waitForFunction((text) => document.title.includes(text), text);
    return page.title();
  },
  async text() {
    return page.locator('main').innerText();
  },
  async shot({ path }) {
    await page.waitForTimeout(3000); // the labels of a timeline are drawn later, and by no sign that could be waited for
    await page.screenshot({ path });
    return path;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const command = JSON.parse(line);
  try {
    console.log(JSON.stringify({ text: await actions[command.do](command) }));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error), text: await page.locator('main').innerText().catch(() => '') }));
  }
}
await browser.close();
