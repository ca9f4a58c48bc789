import { Group, Modal, type ModalRootProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { KeyScope, useCommands } from '@/keys/useCommands';
import { useText } from '@/shell/text';

type Props = Pick<ModalRootProps, 'opened' | 'onClose' | 'size' | 'closeOnClickOutside' | 'returnFocus'> & { title: string; children: ReactNode };

/** A dialog over the page. While it is open, the keys of the page are suspended. Escape closes it. */
export function Dialog({ title, children, ...root }: Props) {
  const text = useText();
  return (
    <Modal.Root {...root} closeOnEscape={false}>
      <Modal.Overlay />
      <Modal.Content>
        <KeyScope>
          <CloseKey onClose={root.onClose} />
          <Group justify="space-between" wrap="nowrap" p="md" pb={0}>
            <Modal.Title fw={600}>{title}</Modal.Title>
            <Modal.CloseButton aria-label={text.close} />
          </Group>
          <Modal.Body pt="md">{children}</Modal.Body>
        </KeyScope>
      </Modal.Content>
    </Modal.Root>
  );
}

/** Closes the dialog with Escape, unless something in the dialog takes the key. */
function CloseKey({ onClose }: { onClose: () => void }) {
  const text = useText();
  useCommands([{ id: 'close-dialog', title: text.close, group: text.general, keys: ['Escape'], typing: true, hidden: true, run: onClose }]);
  return null;
}
