import { booleanMap, labels, strings } from './collections.ts';
import { type Flag, fileFlag, flag, group } from './flag.ts';
import { taints, vmodule } from './objects.ts';
import { boolean, commaSeparated, duration, int32, int64, ip, level, quantity, string } from './scalars.ts';
import { field, request, setting } from './target.ts';
import { version } from './version-kind.ts';

/** Flags of the process, the node and the server. */
export const nodeFlags: readonly Flag[] = [
  ...group('General', [
    flag('config', string, setting('sources', 'configFile'), 'Read the configuration from this file.'),
    flag(
      'config-dir',
      string,
      setting('sources', 'configDir'),
      'Merge the *.conf files of this directory over the configuration file, sorted by name.',
    ),
    flag(
      'strict-config',
      boolean,
      setting('sources', 'strict'),
      'Refuse unknown fields and duplicate keys in configuration files instead of warning.',
    ),
    flag(
      'root-dir',
      string,
      setting('directories', 'root'),
      'Directory for volumes, plugins and the state of the kubelet.',
    ),
    flag('lock-file', string, setting('lock', 'file'), 'Hold a lock on this file, so that only one kubelet runs.'),
    flag(
      'exit-on-lock-contention',
      boolean,
      setting('lock', 'exitOnContention'),
      'Exit when another process opens the lock file; needs --lock-file.',
    ),
    fileFlag(
      'feature-gates',
      booleanMap,
      field('featureGates'),
      'Features to turn on or off, over those of the file.',
      {
        combine: (fromFile, fromFlag) => ({ ...fromFile, ...fromFlag }),
      },
    ),
    fileFlag('max-open-files', int64, field('maxOpenFiles'), 'How many files this process may have open.'),
    fileFlag('oom-score-adj', int32, field('oomScoreAdj'), 'OOM score of this process, from -1000 to 1000.'),
    fileFlag('runonce', boolean, field('runOnce'), 'Run the pods of files and URLs once, then exit.'),
    fileFlag(
      'contention-profiling',
      boolean,
      field('enableContentionProfiling'),
      'Profile blocking, with profiling on.',
    ),
    flag('help', boolean, request('help'), 'Show this help.', { short: 'h' }),
    flag('version', version, request('version'), 'Show the version; =raw shows more, =v1.36.4-X reports that instead.'),
  ]),
  ...group('API server and node', [
    flag(
      'kubeconfig',
      string,
      setting('api', 'kubeconfig'),
      'How to reach the API server; without it, run standalone.',
    ),
    flag(
      'bootstrap-kubeconfig',
      string,
      setting('api', 'bootstrapKubeconfig'),
      'Request a client certificate with this kubeconfig while that of --kubeconfig is missing.',
    ),
    flag(
      'hostname-override',
      string,
      setting('node', 'hostnameOverride'),
      'Name of the node, instead of the host name.',
    ),
    flag('node-ip', commaSeparated, setting('node', 'ips'), 'Address of the node, or one for each family.'),
    flag('node-labels', labels, setting('node', 'labels'), 'Labels the node registers with.'),
    flag('provider-id', string, field('providerID'), 'Id of this node in the database of a cloud.'),
    flag('cloud-provider', string, setting('cloud', 'provider'), 'The cloud this node runs in, or external.'),
    fileFlag('register-node', boolean, field('registerNode'), 'Register the node with the API server.'),
    fileFlag('register-with-taints', taints, field('registerWithTaints'), 'Taints the node registers with.'),
    fileFlag('kube-api-qps', int32, field('kubeAPIQPS'), 'Requests to the API server in a second.'),
    fileFlag('kube-api-burst', int32, field('kubeAPIBurst'), 'Requests to the API server at once.'),
    fileFlag('kube-api-content-type', string, field('contentType'), 'Content type of requests to the API server.'),
    fileFlag('event-qps', int32, field('eventRecordQPS'), 'Events created in a second; 0 is no limit.'),
    fileFlag('event-burst', int32, field('eventBurst'), 'Events created at once.'),
    fileFlag(
      'node-status-update-frequency',
      duration,
      field('nodeStatusUpdateFrequency'),
      'How often status is computed.',
    ),
    fileFlag('node-status-max-images', int32, field('nodeStatusMaxImages'), 'Images shown in the status; -1 is all.'),
    fileFlag('sync-frequency', duration, field('syncFrequency'), 'Longest time between two passes over a running pod.'),
  ]),
  ...group('Server', [
    fileFlag('enable-server', boolean, field('enableServer'), 'Serve the API of the kubelet.'),
    fileFlag('address', ip, field('address'), 'Address to listen on; 0.0.0.0 or :: is every one.'),
    fileFlag('port', int32, field('port'), 'Port of the authenticated server.'),
    fileFlag('read-only-port', int32, field('readOnlyPort'), 'Port of the server without authentication; 0 is none.'),
    fileFlag('healthz-bind-address', ip, field('healthzBindAddress'), 'Address of the health endpoint.'),
    fileFlag('healthz-port', int32, field('healthzPort'), 'Port of the health endpoint; 0 is none.'),
    fileFlag(
      'enable-debugging-handlers',
      boolean,
      field('enableDebuggingHandlers'),
      'Serve logs, exec, attach and so on.',
    ),
    fileFlag(
      'streaming-connection-idle-timeout',
      duration,
      field('streamingConnectionIdleTimeout'),
      'Close a stream that was idle this long; 0 is never.',
    ),
  ]),
  ...group('Authentication and certificates', [
    fileFlag(
      'anonymous-auth',
      boolean,
      field('authentication', 'anonymous', 'enabled'),
      'Accept unauthenticated requests.',
    ),
    fileFlag(
      'authentication-token-webhook',
      boolean,
      field('authentication', 'webhook', 'enabled'),
      'Authenticate bearer tokens with the API server.',
    ),
    fileFlag(
      'authentication-token-webhook-cache-ttl',
      duration,
      field('authentication', 'webhook', 'cacheTTL'),
      'How long its answer is cached.',
    ),
    fileFlag(
      'client-ca-file',
      string,
      field('authentication', 'x509', 'clientCAFile'),
      'Authorities of client certificates.',
    ),
    fileFlag(
      'authorization-mode',
      string,
      field('authorization', 'mode'),
      'AlwaysAllow, or Webhook to ask the API server.',
    ),
    fileFlag(
      'authorization-webhook-cache-authorized-ttl',
      duration,
      field('authorization', 'webhook', 'cacheAuthorizedTTL'),
      'How long a granted access is cached.',
    ),
    fileFlag(
      'authorization-webhook-cache-unauthorized-ttl',
      duration,
      field('authorization', 'webhook', 'cacheUnauthorizedTTL'),
      'How long a denied access is cached.',
    ),
    flag('cert-dir', string, setting('directories', 'certificates'), 'Directory for certificates.'),
    fileFlag('tls-cert-file', string, field('tlsCertFile'), 'Certificate of the server; self-signed without it.'),
    fileFlag('tls-private-key-file', string, field('tlsPrivateKeyFile'), 'Key of --tls-cert-file.'),
    fileFlag('tls-cipher-suites', strings, field('tlsCipherSuites'), 'Cipher suites of the server.'),
    fileFlag('tls-min-version', string, field('tlsMinVersion'), 'Lowest TLS version, VersionTLS10 to VersionTLS13.'),
    fileFlag('rotate-certificates', boolean, field('rotateCertificates'), 'Renew the client certificate.'),
    fileFlag(
      'rotate-server-certificates',
      boolean,
      field('serverTLSBootstrap'),
      'Request the certificate of the server from the API server.',
    ),
  ]),
  ...group('Logging', [
    flag('v', level, field('logging', 'verbosity'), 'How much to log.', { short: 'v' }),
    flag('vmodule', vmodule, field('logging', 'vmodule'), 'Verbosity by file, for the text format.', {
      combine: (fromFile, fromFlag) => [...fromFile, ...fromFlag],
    }),
    fileFlag('logging-format', string, field('logging', 'format'), 'text or json.'),
    flag(
      'log-flush-frequency',
      duration,
      field('logging', 'flushFrequency'),
      'Longest time a line waits to be written.',
    ),
    fileFlag(
      'log-text-split-stream',
      boolean,
      field('logging', 'options', 'text', 'splitStream'),
      'Text: errors to stderr, the rest to stdout.',
    ),
    fileFlag(
      'log-text-info-buffer-size',
      quantity,
      field('logging', 'options', 'text', 'infoBufferSize'),
      'Text: bytes that may wait when the streams are split.',
    ),
    fileFlag(
      'log-json-split-stream',
      boolean,
      field('logging', 'options', 'json', 'splitStream'),
      'JSON: errors to stderr, the rest to stdout.',
    ),
    fileFlag(
      'log-json-info-buffer-size',
      quantity,
      field('logging', 'options', 'json', 'infoBufferSize'),
      'JSON: bytes that may wait when the streams are split.',
    ),
  ]),
];
