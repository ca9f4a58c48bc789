import { Select } from '@mantine/core';
import { Part } from './Part';
import type { PolicyPartProps } from './policy';
import { useText } from './text';

const levels = ['channel', 'session', 'passkey'] as const;
type Level = (typeof levels)[number];

/** Lets the reader choose how strongly an admin must have proved who they are. */
export function Admins({ policy, set, errors }: PolicyPartProps) {
  const text = useText();
  const words: Record<Level, string> = { channel: text.admins_channel, session: text.least_session, passkey: text.least_passkey };
  return (
    <Part title={text.admins} about={text.adminsAbout}>
      <Select
        label={text.admin_assurance} maw={320} allowDeselect={false} value={policy.admin_assurance ?? 'channel'} error={errors.admin_assurance}
        data={levels.map((level) => ({ value: level, label: words[level] }))} onChange={(level) => set('admin_assurance', level as Level)}
      />
    </Part>
  );
}
