import { type BackgroundShell, escapeLine, type Fault } from '@holdfast/protocol'
import { useContext, useState } from 'react'
import { counted, durationText } from '../../text/format.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { useSession, WatchingContext } from '../state/session-context.ts'
import type { BackgroundShells } from '../state/use-background-shells.ts'
import { TerminalView } from '../transcript/terminal-view.tsx'
import { PanelSection } from './panel-section.tsx'

/** Lists the commands that run in the background, with the end of their output. Hidden while none runs. */
export function ShellsSection({ shells: { running, atMs } }: { readonly shells: BackgroundShells }) {
  if (running.length === 0) return null
  return (
    <PanelSection title="Background commands" part="shells" about={`${running.length} running`}>
      <ul className="shells">
        {running.map((shell) => (
          <li key={shell.id}>
            <RunningShell shell={shell} atMs={atMs} />
          </li>
        ))}
      </ul>
    </PanelSection>
  )
}

type RunningShellProps = { readonly shell: BackgroundShell; readonly atMs: number }

/** Shows one command, with a button that stops it. */
function RunningShell({ shell: { id, command, startedAt, outputBytes, tail, isCut }, atMs }: RunningShellProps) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  const [isStopping, setStopping] = useState(false)
  const [fault, setFault] = useState<Fault | null>(null)
  const stop = async () => {
    setStopping(true)
    const refused = await asks.stopShell(id)
    const isGone = refused === null || refused.code === 'not_found' // it has ended by itself: the next list lacks it
    setFault(isGone ? null : refused)
    setStopping(isGone)
  }
  const shown = escapeLine(command)
  return (
    <>
      <div className="shell-head">
        <span className="dot running" aria-hidden="true" />
        <code title={shown}>{shown}</code>
        <button
          type="button"
          disabled={isStopping || watching !== null}
          title={watching ?? undefined}
          aria-label={`Stop ${shown}`}
          onClick={stop}
        >
          {isStopping ? 'Stopping…' : 'Stop'}
        </button>
      </div>
      <p className="panel-about">
        {durationText(Math.max(0, atMs - Date.parse(startedAt)))} · {counted(outputBytes, 'byte')}
      </p>
      <FaultNote fault={fault} />
      {outputBytes > 0 && <TerminalView label={`Output of ${shown}`} text={tail} isLive isCut={isCut} />}
    </>
  )
}
