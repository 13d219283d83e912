/** Files in which a function may keep more than five mutable variables, each with the reason. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {};
