import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceView } from '../../model/service.ts';
import { serviceEnvironment } from './services.ts';

const api: ServiceView = {
  name: 'kubernetes',
  namespace: 'default',
  clusterIp: '10.0.0.1',
  ports: [{ name: 'https', port: 443 }],
};
const web: ServiceView = { name: 'web-front', namespace: 'shop', clusterIp: '10.0.0.7', ports: [{ port: 80 }] };

test('variables of a service', () => {
  const dns = {
    name: 'dns',
    namespace: 'shop',
    clusterIp: 'fd00::a',
    ports: [
      { name: 'dns-udp', port: 53, protocol: 'UDP' },
      { name: 'm', port: 9 },
    ],
  };
  assert.deepEqual(
    Object.fromEntries(
      serviceEnvironment({ services: [dns], namespace: 'shop', links: true, masterNamespace: 'default' }),
    ),
    {
      DNS_SERVICE_HOST: 'fd00::a',
      DNS_SERVICE_PORT: '53',
      DNS_SERVICE_PORT_DNS_UDP: '53',
      DNS_SERVICE_PORT_M: '9',
      DNS_PORT: 'udp://[fd00::a]:53',
      DNS_PORT_53_UDP: 'udp://[fd00::a]:53',
      DNS_PORT_53_UDP_PROTO: 'udp',
      DNS_PORT_53_UDP_PORT: '53',
      DNS_PORT_53_UDP_ADDR: 'fd00::a',
      DNS_PORT_9_TCP: 'tcp://[fd00::a]:9',
      DNS_PORT_9_TCP_PROTO: 'tcp',
      DNS_PORT_9_TCP_PORT: '9',
      DNS_PORT_9_TCP_ADDR: 'fd00::a',
    },
  );
});

test('which services count', () => {
  const hosts = (services: readonly ServiceView[], namespace: string, links = true, masterNamespace = 'default') =>
    [...serviceEnvironment({ services, namespace, links, masterNamespace })]
      .filter(([name]) => name.endsWith('_SERVICE_HOST'))
      .map(([name, value]) => `${name}=${value}`);
  const both = ['KUBERNETES_SERVICE_HOST=10.0.0.1', 'WEB_FRONT_SERVICE_HOST=10.0.0.7'];
  assert.deepEqual(hosts([web, api], 'shop'), both);
  assert.deepEqual(hosts([web, api], 'other'), both.slice(0, 1));
  assert.deepEqual(hosts([web, api], 'other', true, 'elsewhere'), []);
  assert.deepEqual(hosts([{ ...api, namespace: 'masters' }], 'other', true, 'masters'), both.slice(0, 1));
  assert.deepEqual(hosts([web, api], 'shop', false), both.slice(0, 1));
  assert.deepEqual(
    hosts(
      [
        { ...web, clusterIp: 'None' },
        { ...web, clusterIp: '' },
        { ...web, ports: [] },
      ],
      'shop',
    ),
    [],
  );
  const own = { ...api, namespace: 'shop', clusterIp: '10.0.0.9' };
  assert.deepEqual(hosts([own, api], 'shop'), ['KUBERNETES_SERVICE_HOST=10.0.0.9'], 'one of its own hides the API');
  assert.deepEqual(hosts([api, own], 'shop'), ['KUBERNETES_SERVICE_HOST=10.0.0.9']);
  assert.deepEqual(hosts([api, own], 'shop', false), ['KUBERNETES_SERVICE_HOST=10.0.0.1']);
});
