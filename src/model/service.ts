/** A service of the cluster, as far as the environment variables of containers need it. */
export interface ServiceView {
  readonly name: string;
  readonly namespace: string;
  /** Empty or `None` for a service without an address of its own. */
  readonly clusterIp: string;
  readonly ports: readonly {
    readonly name?: string;
    readonly port: number;
    readonly protocol?: string;
  }[];
}
