/** Does something for every item, at most `count` of them side by side, in their order. */
export async function atATime<T>(
  count: number,
  items: readonly T[],
  act: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const left = items.entries();
  const lane = async () => {
    for (const [index, item] of left) await act(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(count, items.length) }, lane));
}
