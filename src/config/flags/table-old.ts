import { strings } from './collections.ts';
import { type Flag, flag, group } from './flag.ts';
import { boolean, duration, int32, int64, ip, oneOf, portNumber, string } from './scalars.ts';
import { setting } from './target.ts';

const fromCadvisor = { deprecated: 'it came from cAdvisor by accident and will go' };
const useEviction = { deprecated: 'use --eviction-hard or --eviction-soft instead' };
const noEffectElsewhere = { deprecated: 'newer kubelets do not have it' };

/** cAdvisor's flags, and flags that the reference has dropped or will drop. */
export const oldFlags: readonly Flag[] = [
  ...group('cAdvisor', [
    flag(
      'cadvisor-port',
      portNumber,
      setting('cadvisor', 'port'),
      'Port of the cAdvisor page; 0 is none.',
      noEffectElsewhere,
    ),
    flag('cadvisor-bind-address', ip, setting('cadvisor', 'bindAddress'), 'Address of the cAdvisor page.'),
    flag(
      'housekeeping-interval',
      duration,
      setting('cadvisor', 'housekeepingInterval'),
      'Time between two measurements.',
    ),
    flag(
      'global-housekeeping-interval',
      duration,
      setting('cadvisor', 'globalHousekeepingInterval'),
      'The same, for the machine.',
      fromCadvisor,
    ),
    flag(
      'application-metrics-count-limit',
      int64,
      setting('cadvisor', 'applicationMetricsCountLimit'),
      'Application metrics kept for a container.',
      fromCadvisor,
    ),
    flag(
      'boot-id-file',
      string,
      setting('cadvisor', 'bootIdFile'),
      'Files with the boot id; the first found counts.',
      fromCadvisor,
    ),
    flag(
      'machine-id-file',
      string,
      setting('cadvisor', 'machineIdFile'),
      'Files with the machine id; the first found counts.',
      fromCadvisor,
    ),
    flag(
      'cadvisor-metrics-profile',
      oneOf('full', 'lean'),
      setting('cadvisor', 'metricsProfile'),
      'Families of /metrics/cadvisor: all of them (full), or what the usual dashboards read (lean).',
    ),
    flag(
      'cadvisor-metrics-allow',
      strings,
      setting('cadvisor', 'metricsAllow'),
      'Families of /metrics/cadvisor to show instead of those of the profile; a name may end in *.',
    ),
    flag(
      'cadvisor-metrics-deny',
      strings,
      setting('cadvisor', 'metricsDeny'),
      'Families of /metrics/cadvisor to leave out; a name may end in *.',
    ),
    flag(
      'container-hints',
      string,
      setting('cadvisor', 'containerHints'),
      'File with hints about containers.',
      fromCadvisor,
    ),
    flag('containerd', string, setting('cadvisor', 'containerd'), 'Socket of containerd for cAdvisor.', fromCadvisor),
    flag(
      'containerd-namespace',
      string,
      setting('cadvisor', 'containerdNamespace'),
      'Namespace of containerd for cAdvisor.',
      fromCadvisor,
    ),
    flag('enable-load-reader', boolean, setting('cadvisor', 'enableLoadReader'), 'Measure CPU load.', fromCadvisor),
    flag(
      'event-storage-age-limit',
      string,
      setting('cadvisor', 'eventStorageAgeLimit'),
      'How long cAdvisor events stay, by type.',
      fromCadvisor,
    ),
    flag(
      'event-storage-event-limit',
      string,
      setting('cadvisor', 'eventStorageEventLimit'),
      'How many cAdvisor events stay, by type.',
      fromCadvisor,
    ),
    flag(
      'log-cadvisor-usage',
      boolean,
      setting('cadvisor', 'logUsage'),
      'Log what cAdvisor itself uses.',
      fromCadvisor,
    ),
    flag(
      'storage-driver-buffer-duration',
      duration,
      setting('cadvisor', 'storage', 'bufferDuration'),
      'How long samples wait to be stored.',
      fromCadvisor,
    ),
    flag('storage-driver-db', string, setting('cadvisor', 'storage', 'db'), 'Database of samples.', fromCadvisor),
    flag(
      'storage-driver-host',
      string,
      setting('cadvisor', 'storage', 'host'),
      'Host and port of that database.',
      fromCadvisor,
    ),
    flag(
      'storage-driver-password',
      string,
      setting('cadvisor', 'storage', 'password'),
      'Password for that database.',
      fromCadvisor,
    ),
    flag(
      'storage-driver-secure',
      boolean,
      setting('cadvisor', 'storage', 'secure'),
      'Reach that database over TLS.',
      fromCadvisor,
    ),
    flag(
      'storage-driver-table',
      string,
      setting('cadvisor', 'storage', 'table'),
      'Table in that database.',
      fromCadvisor,
    ),
    flag(
      'storage-driver-user',
      string,
      setting('cadvisor', 'storage', 'user'),
      'User for that database.',
      fromCadvisor,
    ),
  ]),
  ...group('Kept from older versions', [
    flag(
      'minimum-container-ttl-duration',
      duration,
      setting('containers', 'deadMinimumAge'),
      'Keep dead containers that are younger.',
      useEviction,
    ),
    flag(
      'maximum-dead-containers-per-container',
      int32,
      setting('containers', 'deadPerContainer'),
      'Old instances kept of a container.',
      useEviction,
    ),
    flag(
      'maximum-dead-containers',
      int32,
      setting('containers', 'deadTotal'),
      'Old containers kept in all; negative is no limit.',
      useEviction,
    ),
    flag('experimental-mounter-path', string, setting('containers', 'mounterPath'), 'Program to mount with.', {
      deprecated: 'use CSI instead',
    }),
    flag(
      'experimental-allocatable-ignore-eviction',
      boolean,
      setting('containers', 'allocatableIgnoresEviction'),
      'Leave hard eviction thresholds out of what pods can use.',
      { deprecated: 'it will be removed' },
    ),
    flag(
      'dynamic-config-dir',
      string,
      setting('sources', 'dynamicConfigDir'),
      'Directory for configuration from the cluster.',
      noEffectElsewhere,
    ),
    flag(
      'cloud-config',
      string,
      setting('cloud', 'configFile'),
      'Configuration of the cloud provider.',
      noEffectElsewhere,
    ),
    flag(
      'container-runtime',
      oneOf('remote'),
      setting('containers', 'runtime'),
      'Only remote: a CRI runtime.',
      noEffectElsewhere,
    ),
    flag(
      'network-plugin',
      oneOf('', 'cni', 'kubenet'),
      setting('network', 'plugin'),
      'Network plugin, if the runtime has none.',
      noEffectElsewhere,
    ),
    flag(
      'cni-conf-dir',
      string,
      setting('network', 'cniConfDir'),
      'Directory with CNI configurations.',
      noEffectElsewhere,
    ),
    flag('cni-bin-dir', string, setting('network', 'cniBinDir'), 'Directories with CNI plugins.', noEffectElsewhere),
    flag(
      'master-service-namespace',
      string,
      setting('api', 'masterServiceNamespace'),
      'Namespace of the services every pod sees.',
      noEffectElsewhere,
    ),
    flag('auth-path', string, setting('api', 'authPath'), 'Old file with credentials for the API server.', {
      deprecated: 'use --kubeconfig instead',
    }),
    flag('require-kubeconfig', boolean, setting('api', 'requireKubeconfig'), 'Exit if the kubeconfig is missing.', {
      deprecated: 'give --kubeconfig instead',
    }),
  ]),
];
