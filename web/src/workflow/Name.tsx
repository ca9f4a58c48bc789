import { Fragment } from 'react';

/** Shows the name of a step or a tool. The name breaks only after one of its words. */
export function Name({ text }: { text: string }) {
  return text.split(/(?<=_)/).map((part, at) => <Fragment key={at}>{at > 0 && <wbr />}{part}</Fragment>);
}
