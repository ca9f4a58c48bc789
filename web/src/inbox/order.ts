// The order of the list that the reader came from: a question that was opened
// from it knows which one is next.
let order: readonly string[] = [];

export function setOrder(ids: readonly string[]): void {
  order = ids;
}

export function neighbour(id: string, by: 1 | -1): string | undefined {
  const at = order.indexOf(id);
  return at < 0 ? undefined : order[at + by];
}
