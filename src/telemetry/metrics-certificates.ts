/** How long the certificates of the node are good for, and how often renewing them failed. Only shown for certificates that are renewed. */
import type { Metrics } from './metrics.ts';

/** Wall clock, ms; undefined where there is no certificate. */
export type CertificateEnd = () => number | undefined;

export interface CertificateMetrics {
  client(end: CertificateEnd): { failed(): void };
  serving(end: CertificateEnd): {
    failed(): void;
    /** `lived`: how long the certificate before was used, ms; undefined for the first. */
    rotated(lived: number | undefined): void;
  };
}

const [MINUTE, HOUR, DAY] = [60, 3600, 86_400];
const LIFETIMES = [MINUTE, HOUR, 4 * HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY, 180 * DAY, 360 * DAY, 1440 * DAY];

export function createCertificateMetrics(metrics: Metrics, now: () => number): CertificateMetrics {
  const addEnd = (name: string, which: string, end: CertificateEnd) => {
    const help = `Seconds until the ${which} certificate of the kubelet expires; negative after that, +Inf where there is none.`;
    metrics.computed('gauge', { name, help }, () => {
      const at = end();
      return [{ value: at === undefined ? Number.POSITIVE_INFINITY : Math.trunc((at - now()) / 1000) }];
    });
  };
  const addFailures = (name: string) => {
    const counter = metrics.counter({ name, help: 'Counter of certificate renewal errors.' });
    counter.add(0);
    return () => counter.add(1);
  };
  return {
    client: (end) => {
      addEnd('kubelet_certificate_manager_client_ttl_seconds', 'client', end);
      return { failed: addFailures('kubelet_certificate_manager_client_expiration_renew_errors') };
    },
    serving: (end) => {
      addEnd('kubelet_certificate_manager_server_ttl_seconds', 'serving', end);
      const lifetimes = metrics.histogram({
        name: 'kubelet_certificate_manager_server_rotation_seconds',
        help: 'Histogram of the number of seconds the previous certificate lived before being rotated.',
        buckets: LIFETIMES,
      });
      return {
        failed: addFailures('kubelet_server_expiration_renew_errors'),
        rotated: (lived) => {
          if (lived !== undefined) lifetimes.observe(lived / 1000);
        },
      };
    },
  };
}
