import { judgeAll, type Surroundings } from '../judge-testing.ts';
import { defaultSettings } from '../settings.ts';

function locking(file: string, exitOnContention: boolean): Surroundings {
  return { settings: { lock: { file, exitOnContention } } };
}

function providing(providerConfig: string, providerBinDir: string): Surroundings {
  return { settings: { credentials: { ...defaultSettings.credentials, providerConfig, providerBinDir } } };
}

for (const endpoint of [
  'localhost:4317',
  'dns:///collector:4317',
  'unix:///run/otel.sock',
  'unix-abstract://otel',
  '[::1]:4317',
  '',
]) {
  judgeAll({ [`tracing to '${endpoint}'`]: { config: { tracing: { endpoint, samplingRatePerMillion: 1_000_000 } } } });
}
for (const endpoint of [
  'http://collector:4317',
  'ipv4://1.2.3.4:1',
  'local host:1',
  'localhost:otel',
  '://x',
  '%zz',
  'a%20b:1',
]) {
  judgeAll({ [`tracing to '${endpoint}'`]: { config: { tracing: { endpoint } }, problems: ['tracing.endpoint'] } });
}

judgeAll({
  'sampling rate negative': {
    config: { tracing: { samplingRatePerMillion: -1 } },
    problems: [/^tracing\.samplingRatePerMillion: must be between 0 and 1000000/],
  },
  'sampling rate too high': {
    config: { tracing: { samplingRatePerMillion: 1_000_001 } },
    problems: ['tracing.samplingRatePerMillion'],
  },
  'lock and exit': { config: {}, around: locking('/run/kubelet.lock', true) },
  'exit without a lock': {
    config: {},
    around: locking('', true),
    problems: [/^--exit-on-lock-contention: needs --lock-file/],
  },
  'credential providers': { config: {}, around: providing('/etc/providers.yaml', '/opt/providers') },
  'credential providers without binaries': {
    config: {},
    around: providing('/etc/providers.yaml', ''),
    problems: [/^--image-credential-provider-config: needs/],
  },
  'credential providers without configuration': {
    config: {},
    around: providing('', '/opt/providers'),
    problems: [/^--image-credential-provider-bin-dir: needs/],
  },
});
