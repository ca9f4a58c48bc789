import { Alert, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { whoamiQuery } from '@/api/queries';
import { Trouble } from '@/ui/Trouble';
import { Waiting } from '@/ui/Waiting';
import { Section } from '../parts/Section';
import { preferencesQuery } from '../queries';
import { Devices } from './Devices';
import { PreferenceForm } from './PreferenceForm';
import { useText } from './text';

/** How questions reach me while no page is open. */
export default function Notifications() {
  const text = useText();
  const { data: me } = useQuery(whoamiQuery);
  const { data, error, refetch } = useQuery({ ...preferencesQuery, enabled: Boolean(me?.member_id) });
  if (!me) return <Waiting />;
  if (!me.member_id) return <Alert>{text.noMember}</Alert>;
  return (
    <Stack gap="xl">
      <Devices member={me.member_id} />
      <Section title={text.what} about={text.whatAbout}>
        {error && !data ? <Trouble error={error} again={() => void refetch()} /> : !data && <Waiting />}
        {data && <PreferenceForm key={JSON.stringify(data)} stored={data} />}
      </Section>
    </Stack>
  );
}
