import { Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { whoamiQuery } from '@/api/queries';
import { mayOverseeDeliveries } from '@/settings/parts/rights';
import { expandableRows } from '@/ui/ExpandableRow';
import { DeliveryRow } from './DeliveryRow';
import { questionDeliveriesQuery } from './queries';
import { useText } from './text';

/** Shows where messages about a question went, and the state of each. */
export default function QuestionDeliveries({ question }: { question: string }) {
  const text = useText();
  const { data: me } = useQuery(whoamiQuery);
  const { data } = useQuery(questionDeliveriesQuery(question));
  if (!data || data.items.length === 0) return null;
  return (
    <section aria-labelledby="sent-to">
      <Title order={2} size="h5" id="sent-to">{text.sentTo}</Title>
      <Text size="sm" c="dimmed" mb="xs">{text.sentToAbout}</Text>
      <ul className={expandableRows} aria-labelledby="sent-to">
        {data.items.map((delivery) => <DeliveryRow key={delivery.id} delivery={delivery} mayResend={mayOverseeDeliveries(me)} />)}
      </ul>
    </section>
  );
}
