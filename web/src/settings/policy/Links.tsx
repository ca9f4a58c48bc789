import { Select } from '@mantine/core';
import { Part } from './Part';
import type { PolicyPartProps } from './policy';
import { useText } from './text';

const levels = ['off', 'low', 'medium'] as const;
type Level = (typeof levels)[number];

/** Lets the reader choose which questions the link in a message can answer without a sign-in. */
export function Links({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  const words: Record<Level, string> = { off: text.linksOff, low: text.linksLow, medium: text.linksMedium };
  return (
    <Part title={text.links} about={text.linksAbout}>
      <Select
        label={text.link_answers} maw={320} allowDeselect={false} value={policy.link_answers ?? 'low'} error={errors.link_answers}
        data={levels.map((level) => ({ value: level, label: words[level] }))} onChange={(level) => set('link_answers', level as Level)}
      />
    </Part>
  );
}
