import type { LiveView } from '@holdfast/client'
import type { SessionView } from '@holdfast/protocol'
import { isBusy } from '../../text/format.ts'
import type { Commands } from '../state/use-commands.ts'

type PlanBarProps = {
  readonly view: SessionView
  readonly messages: LiveView['messages']
  readonly isOff: boolean
  readonly commands: Pick<Commands, 'acceptPlan'>
}

/** Offers to carry out the plan that the agent just wrote. */
export function PlanBar({ view, messages, isOff, commands }: PlanBarProps) {
  const last = messages.findLast(({ kind }) => kind !== 'usage')
  if (view.mode !== 'plan' || isBusy(view.status) || last?.kind !== 'assistant') return null
  return (
    <div className="plan-bar">
      <p>The plan is ready. Ask for changes, or let the agent carry it out.</p>
      <button type="button" className="primary" disabled={isOff} onClick={commands.acceptPlan}>
        Accept plan and run
      </button>
    </div>
  )
}
