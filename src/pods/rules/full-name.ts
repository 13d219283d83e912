/** A pod's name within the cluster: at most one pod of a full name exists at a time. */
export function fullName({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
