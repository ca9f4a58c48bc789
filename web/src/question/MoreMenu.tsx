import { Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Question } from '@/api/types';
import { IconButton } from '@/ui/IconButton';
import { useText } from './text';

interface Props {
  question: Question;
  /** Whether the question is the whole page. */
  page?: boolean;
  /** Undefined if the reader may not withdraw the question. */
  onWithdraw?: () => void;
}

/** The menu of what is rare or dangerous. It is open when it appears. */
export function MoreMenu({ question, page, onWithdraw }: Props) {
  const text = useText();
  return (
    <Menu position="bottom-end" withinPortal defaultOpened>
      <Menu.Target><IconButton icon="more" label={text.more} /></Menu.Target>
      <Menu.Dropdown>
        {!page && <Menu.Item renderRoot={(props) => <Link to="/questions/$id" params={{ id: question.id }} {...props} />}>{text.openAlone}</Menu.Item>}
        {onWithdraw && <Menu.Item color="red" onClick={onWithdraw}>{text.withdraw}</Menu.Item>}
      </Menu.Dropdown>
    </Menu>
  );
}
