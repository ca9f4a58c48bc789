import { Fragment } from 'react';

/** Shows the name of a step or a tool. A line of the name breaks only after an underscore. */
export function Name({ text }: { text: string }) {
  return text.split(/(?<=_)/).map((part, at) => <Fragment key={at}>{at > 0 && <wbr />}{part}</Fragment>);
}
