import { NumberInput } from '@mantine/core';
import { Part } from './Part';
import { maxUndoSeconds, type PolicyPartProps } from './policy';
import { useText } from './text';

const usual = 5;

/** Lets the reader set how long an answer can be undone. */
export function Undo({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  return (
    <Part title={text.undo} about={text.undoAbout}>
      <NumberInput
        label={text.undo_seconds} maw={220} min={0} max={maxUndoSeconds} clampBehavior="none" allowDecimal={false} value={policy.undo_seconds ?? usual}
        error={errors.undo_seconds} onChange={(n) => set('undo_seconds', typeof n === 'number' ? n : NaN)}
      />
    </Part>
  );
}
