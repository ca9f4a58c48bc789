import { Group, NumberInput, Switch } from '@mantine/core';
import { Part } from './Part';
import type { PolicyPartProps } from './policy';
import { useText } from './text';

/**
 * Lets the reader set the confidence thresholds: when Fermata takes the agent's suggested answer, and when it skips the
 * task.
 */
export function Guesses({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  return (
    <Part title={text.guesses} about={text.guessesAbout}>
      <Threshold label={text.auto} about={text.autoAbout} word={text.from} value={policy.auto_confidence} usual={80} error={errors.auto_confidence} set={(n) => set('auto_confidence', n)} />
      <Threshold label={text.ask} about={text.askAbout} word={text.below} value={policy.ask_confidence} usual={50} error={errors.ask_confidence} set={(n) => set('ask_confidence', n)} />
    </Part>
  );
}

interface ThresholdProps {
  label: string;
  about: string;
  word: string;
  value: number | undefined;
  usual: number;
  error?: string;
  set: (value: number | undefined) => void;
}

function Threshold({ label, about, word, value, usual, error, set }: ThresholdProps) {
  return (
    <Group align="flex-start" justify="space-between">
      <Switch flex="1 1 260px" label={label} description={about} checked={value !== undefined} onChange={(event) => set(event.currentTarget.checked ? usual : undefined)} />
      {value !== undefined && (
        <NumberInput
          label={word} aria-label={`${label}: ${word}`} w={110} min={0} max={100} clampBehavior="none" allowDecimal={false} suffix=" %" value={value} error={error}
          onChange={(n) => set(typeof n === 'number' ? n : NaN)}
        />
      )}
    </Group>
  );
}
