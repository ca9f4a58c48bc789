import '@mantine/spotlight/styles.css';
import { Spotlight, spotlight } from '@mantine/spotlight';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { activeCommands, onCommands } from '@/keys/registry';
import { Icon } from '@/ui/Icon';
import { Keys } from '@/ui/Keys';
import classes from './Palette.module.css';
import { useText } from './text';

/** Offers every command by name. Its code is loaded after the first page. */
export default function Palette({ onClose }: { onClose: () => void }) {
  const text = useText();
  const live = useSyncExternalStore(onCommands, activeCommands);
  // The palette offers the commands that were active when it was opened.
  const [offered] = useState(live);
  const [query, setQuery] = useState('');
  // Spotlight reports that it was closed only if its store opened it.
  useEffect(() => {
    spotlight.open();
    return () => spotlight.close();
  }, []);
  return (
    <Spotlight
      query={query}
      onQueryChange={setQuery}
      attributes={{ content: { 'aria-label': text.palette } }}
      classNames={{ action: classes.action }}
      onSpotlightClose={onClose}
      shortcut={null}
      highlightQuery
      scrollable
      maxHeight={400}
      scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}
      nothingFound={text.paletteNothing}
      // The focus trap of the dialog moves the focus a moment later. Until then, the first letters of a fast typist
      // would act on the page.
      searchProps={{ autoFocus: true, placeholder: text.paletteSearch, 'aria-label': text.paletteSearch, leftSection: <Icon name="search" /> }}
      actions={offered.filter((command) => command.id !== 'palette').map((command) => ({
        id: command.id,
        label: command.title,
        description: command.group,
        rightSection: command.keys?.[0] ? <Keys keys={command.keys[0]} /> : undefined,
        onClick: () => {
          onClose();
          command.run();
        },
      }))}
    />
  );
}
