/** Versions of one object, in the order in which the API server gave them: whole numbers without leading zeros. */
export function isOlder(version: string | undefined, than: string | undefined): boolean {
  if (version === undefined || than === undefined) return false;
  return version.length === than.length ? version < than : version.length < than.length;
}
