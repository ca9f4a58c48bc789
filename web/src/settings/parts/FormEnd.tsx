import { Button, Group } from '@mantine/core';
import { useCommands } from '@/keys/useCommands';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { useText } from './text';

interface Props {
  submitLabel: string;
  sending: boolean;
  error: unknown;
  submit: () => void;
  onCancel?: () => void;
  disabled?: boolean;
}

/** The end of a form: the error and the buttons. */
export function FormEnd({ submitLabel, sending, error, submit, onCancel, disabled }: Props) {
  const text = useText();
  useCommands([{ id: 'save', title: submitLabel, group: text.dialog, keys: ['mod+Enter'], typing: true, run: submit }], !disabled);
  return (
    <>
      {Boolean(error) && <ErrorAlert error={error} />}
      <Group justify="flex-end">
        {onCancel && <Button variant="default" onClick={onCancel}>{text.cancel}</Button>}
        <Button type="submit" loading={sending} disabled={disabled}>{submitLabel}</Button>
      </Group>
    </>
  );
}
