// The order of the list from which the reader came. A question that was opened
// from the list finds its neighbours here.
let order: readonly string[] = [];

export function setOrder(ids: readonly string[]): void {
  order = ids;
}

export function neighbour(id: string, by: 1 | -1): string | undefined {
  const at = order.indexOf(id);
  return at < 0 ? undefined : order[at + by];
}
