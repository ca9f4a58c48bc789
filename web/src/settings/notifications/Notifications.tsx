import { Alert, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { whoamiQuery } from '@/api/queries';
import { Loading } from '@/ui/Loading';
import { StoredForm } from '../parts/StoredForm';
import { preferencesQuery } from '../queries';
import { Devices } from './Devices';
import { PreferenceForm } from './PreferenceForm';
import { useText } from './text';

/** Shows how questions reach the reader while no page is open. */
export default function Notifications() {
  const text = useText();
  const { data: me } = useQuery(whoamiQuery);
  if (!me) return <Loading />;
  if (!me.member_id) return <Alert>{text.noMember}</Alert>;
  return (
    <Stack gap="xl">
      <Devices member={me.member_id} />
      <StoredForm query={preferencesQuery} words={{ ...text, title: text.what, about: text.whatAbout }}>
        {(begun, onSaved) => <PreferenceForm stored={begun} onSaved={onSaved} />}
      </StoredForm>
    </Stack>
  );
}
