// A real, certified identity provider at which people log in: npm `oidc-provider`, with its own
// pages for login and consent. usage: node people.mjs PORT REDIRECT_URI
import Provider from 'oidc-provider';

const [, , port, redirect] = process.argv;
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'weighbridge',
      client_secret: 'a-secret-of-the-test',
      redirect_uris: [redirect],
      grant_types: ['authorization_code'],
      response_types: ['code'],
    },
  ],
  pkce: { required: () => true },
  claims: { openid: ['sub', 'tenant', 'roles'] },
  conformIdTokenClaims: false,
  cookies: { keys: ['of-the-test'] },
  findAccount: (context, id) => ({
    accountId: id,
    claims: () => ({ sub: id, tenant: 'acme', roles: ['finance-lead'] }),
  }),
  features: { devInteractions: { enabled: true } },
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
