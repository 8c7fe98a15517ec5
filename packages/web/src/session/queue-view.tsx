import { contentText, type SessionView } from '@holdfast/protocol'

type QueueViewProps = { readonly queue: SessionView['queue'] }

/** What was said and waits for its moment, in order. */
export function QueueView({ queue }: QueueViewProps) {
  if (queue.length === 0) return null
  return (
    <ol className="queue" aria-label="Queue">
      {queue.map(({ id, queue, content }) => (
        <li key={id}>
          <span className="queue-kind">{queue === 'steering' ? 'steers next' : 'follows'}</span>
          <span className="queue-text" dir="auto">
            {contentText(content)}
          </span>
        </li>
      ))}
    </ol>
  )
}
