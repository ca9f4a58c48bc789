import { Button, Checkbox, Group, Menu, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, unwrap } from '@/api/client';
import { whoamiQuery } from '@/api/queries';
import { Dialog } from '@/ui/Dialog';
import { Icon } from '@/ui/Icon';
import { ErrorAlert } from '@/ui/ErrorAlert';
import { isFiltered, type Filter } from './filter';
import { useText } from './text';
import { viewsQuery } from './useInbox';

const queryText = (filter: Filter) => new URLSearchParams(Object.entries(filter).filter((entry): entry is [string, string] => Boolean(entry[1]))).toString();

/** Shows the saved filters: the reader's own and those that others share. */
export function Views({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  const text = useText();
  const client = useQueryClient();
  const [naming, setNaming] = useState(false);
  const { data: me } = useQuery(whoamiQuery);
  const { data } = useQuery(viewsQuery);
  const remove = useMutation({
    mutationFn: (name: string) => unwrap(api.DELETE('/v1/views/{name}', { params: { path: { name } } })),
    onSuccess: () => client.invalidateQueries({ queryKey: ['views'] }),
  });
  const views = data?.items ?? [];
  const ownView = views.find((view) => view.query === queryText(filter) && view.owner === me?.name);
  return (
    <>
      <Menu>
        <Menu.Target><Button variant="default" px="sm" leftSection={<Icon name="star" />}>{text.views}</Button></Menu.Target>
        <Menu.Dropdown>
          {views.map((view) => (
            <Menu.Item key={`${view.owner} ${view.name}`} onClick={() => onChange(Object.fromEntries(new URLSearchParams(view.query)))}>
              {view.name}{view.owner === me?.name ? '' : ` · ${view.owner}`}
            </Menu.Item>
          ))}
          {isFiltered(filter) && <Menu.Item leftSection={<Icon name="star" size={14} />} onClick={() => setNaming(true)}>{text.saveView}</Menu.Item>}
          {ownView && <Menu.Item leftSection={<Icon name="cross" size={14} />} onClick={() => remove.mutate(ownView.name)}>{text.deleteView(ownView.name)}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {naming && <SaveViewDialog query={queryText(filter)} onClose={() => setNaming(false)} />}
    </>
  );
}

function SaveViewDialog({ query, onClose }: { query: string; onClose: () => void }) {
  const text = useText();
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [shared, setShared] = useState(false);
  const save = useMutation({
    mutationFn: () => unwrap(api.PUT('/v1/views/{name}', { params: { path: { name } }, body: { query, shared } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['views'] });
      onClose();
    },
  });
  return (
    <Dialog opened onClose={onClose} title={text.saveView}>
      <Stack component="form" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
        <TextInput data-autofocus label={text.viewName} value={name} maxLength={64} onChange={(event) => setName(event.currentTarget.value)} />
        <Checkbox label={text.sharedView} checked={shared} onChange={(event) => setShared(event.currentTarget.checked)} />
        {save.error && <ErrorAlert error={save.error} />}
        <Group justify="flex-end"><Button type="submit" loading={save.isPending}>{text.save}</Button></Group>
      </Stack>
    </Dialog>
  );
}
