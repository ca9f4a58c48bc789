import { Group, Modal, type ModalRootProps } from '@mantine/core';
import type { ReactNode } from 'react';
import { KeyScope } from '@/keys/useCommands';
import { useText } from '@/shell/text';

type Props = Pick<ModalRootProps, 'opened' | 'onClose' | 'size' | 'closeOnClickOutside' | 'returnFocus'> & { title: string; children: ReactNode };

/** A dialog over the page. While it is open, the keys of the page are suspended. */
export function Dialog({ title, children, ...root }: Props) {
  const text = useText();
  return (
    <Modal.Root {...root}>
      <Modal.Overlay />
      <Modal.Content>
        <KeyScope>
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
