import { type ChildView, escapeLine, type Fault } from '@holdfast/protocol'
import { useContext, useState } from 'react'
import { usageText } from '../../text/format.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { WatchingContext } from '../state/session-context.ts'
import { type ChildStatus, isAtWork } from './child-text.ts'
import { useSubagents } from './use-subagents.ts'

type ChildActionsProps = {
  readonly id: ChildView['id']
  readonly task: string
  readonly status: ChildStatus
  /** What is known of it; absent until the subagents are loaded. */
  readonly view: ChildView | undefined
  readonly isBackground: boolean
}

/** Says what a subagent does and costs, with buttons that stop it and open it. */
export function ChildActions({ id, task, status, view, isBackground }: ChildActionsProps) {
  const { open, close, opened } = useSubagents()
  const isOpened = opened === id
  const parts = [isBackground && 'background', isAtWork(status) && view?.tool, view && usageText(view.usage)]
  return (
    <div className="child-strip">
      <p>
        {parts
          .filter((part) => typeof part === 'string')
          .map(escapeLine)
          .join(' · ')}
      </p>
      <StopChild id={id} task={task} status={status} />
      <button
        type="button"
        className="small"
        aria-pressed={isOpened}
        aria-label={`${isOpened ? 'Close' : 'Open'} the subagent ${escapeLine(task)}`}
        onClick={() => (isOpened ? close() : open(id))}
      >
        {isOpened ? 'Close' : 'Open'}
      </button>
    </div>
  )
}

type StopChildProps = Pick<ChildActionsProps, 'id' | 'task' | 'status'>

/** Stops a subagent while it works. */
export function StopChild({ id, task, status }: StopChildProps) {
  const { stop } = useSubagents()
  const watching = useContext(WatchingContext)
  const [isStopping, setStopping] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  if (!isAtWork(status)) return null
  const onStop = async () => {
    setStopping(true)
    const refused = await stop(id)
    setFault(refused)
    setStopping(refused === null) // until the stream says that it ended
  }
  return (
    <>
      <FaultNote fault={fault} />
      <button
        type="button"
        className="small"
        disabled={isStopping || watching !== null}
        title={watching ?? undefined}
        aria-label={`Stop the subagent ${escapeLine(task)}`}
        onClick={onStop}
      >
        {isStopping ? 'Stopping…' : 'Stop'}
      </button>
    </>
  )
}
