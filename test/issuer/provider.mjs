// Serves an issuer of OpenID Connect: oidc-provider, which the OpenID Foundation has certified, with the pages for signing in that come
// with it. It keeps everything in memory.
//
//   provider.mjs PORT   reads {key, certificate, redirects, users} from standard input; users have their claims by login
import { createServer } from 'node:https';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { Provider } = await import(createRequire(join(process.env.OIDC_PROVIDER, 'index.js')).resolve('oidc-provider'));
const { key, certificate, redirects, users } = JSON.parse(readFileSync(0, 'utf8'));
const port = Number(process.argv[2]);

const provider = new Provider(`https://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: 'slipway', client_secret: 's3cret-of-thirty-two-characters.', redirect_uris: redirects,
      grant_types: ['authorization_code'], response_types: ['code'],
    },
    {
      client_id: 'slipway-cli', application_type: 'native', token_endpoint_auth_method: 'none', redirect_uris: [], response_types: [],
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    },
    { client_id: 'other', application_type: 'native', token_endpoint_auth_method: 'none', redirect_uris: [], response_types: [],
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] },
  ],
  claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email', 'email_verified'], groups: ['groups', 'organization'] },
  scopes: ['openid', 'profile', 'email', 'groups'],
  // Claims are in the ID token, as Keycloak and Dex put them there.
  conformIdTokenClaims: false,
  features: { deviceFlow: { enabled: true } },
  findAccount: (_, login) => users[login] && { accountId: login, claims: () => ({ sub: login, ...users[login] }) },
});

createServer({ key, cert: certificate }, provider.callback()).listen(port, '127.0.0.1', () => console.log('ready'));
