// Signs in with a browser, as a person does: follows links and fills forms of the pages that it is shown.
//
//   browser.mjs sign-in ADDRESS LOGIN    signs in at a service, and prints the text of the page it ends at
//   browser.mjs activate ADDRESS LOGIN   enters the code of a device, which is in the address
//   PLAYWRIGHT, CHROMIUM                 folder with node_modules/playwright-core, and the browser's program
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { chromium } = createRequire(join(process.env.PLAYWRIGHT, 'index.js'))('playwright-core');
const [what, address, login] = process.argv.slice(2);
// --no-sandbox: Chromium refuses to run as root with its sandbox.
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
// The certificates are of authorities of the test.
const page = await browser.newPage({ ignoreHTTPSErrors: true });
page.setDefaultTimeout(300_000); // other tests keep the machine busy

const press = (name) => page.getByRole('button', { name }).click();
await page.goto(address);
if (what === 'sign-in') await page.getByRole('link', { name: /sign in/i }).click();
else await press(/continue|confirm/i);
await page.locator('input[name=login]').fill(login);
await page.locator('input[name=password]').fill('any');
await press(/sign-in/i);
await press(/continue/i);
if (what === 'sign-in') {
  await page.waitForURL(new RegExp(`^${new URL(address).origin}/`));
  // A page leads from the issuer's answer to where the person wanted to go.
  await page.waitForFunction(() => document.body && !document.querySelector('meta[http-equiv=refresh]'));
  await page.waitForLoadState();
}
else await page.getByText(/success/i).first().waitFor();
console.log(JSON.stringify({ url: page.url(), text: await page.locator('body').innerText() }));
await browser.close();
