// A real, certified identity provider: npm `oidc-provider`, with one client and resource indicators.
// usage: node issuer.mjs PORT RESOURCE
import Provider from 'oidc-provider';

const [, , port, resource] = process.argv;
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'agent',
      client_secret: 'a-secret-of-the-test',
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    },
  ],
  scopes: ['notes:read', 'notes:write'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      getResourceServerInfo: () => ({
        scope: 'notes:read notes:write',
        audience: resource,
        accessTokenFormat: 'jwt',
        accessTokenTTL: 300,
        jwt: { sign: { alg: 'RS256' } },
      }),
      useGrantedResource: () => true,
    },
  },
  extraTokenClaims: () => ({ tenant: 'acme', roles: ['agent'] }),
});
provider.listen(Number(port), '127.0.0.1', () => console.log('ready'));
