import { type BackgroundShell, escapeLine, type Fault } from '@holdfast/protocol'
import { useContext, useState } from 'react'
import { counted, durationText } from '../../text/format.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { useSession, WatchingContext } from '../state/session-context.ts'
import type { BackgroundShells } from '../state/use-background-shells.ts'
import { TerminalView } from '../transcript/terminal-view.tsx'
import { PanelSection } from './panel-section.tsx'

/** Lists the commands in the background with the end of their output: those that run, then those that have ended. */
export function ShellsSection({ shells: { running, ended, atMs } }: { readonly shells: BackgroundShells }) {
  if (running.length === 0 && ended.length === 0) return null
  const about = running.length > 0 ? `${running.length} running` : `${ended.length} ended`
  return (
    <PanelSection title="Background commands" part="shells" about={about}>
      <ul className="shells">
        {running.map((shell) => (
          <li key={shell.id}>
            <RunningShell shell={shell} atMs={atMs} />
          </li>
        ))}
        {ended.map((shell) => (
          <li key={shell.id}>
            <EndedShell shell={shell} />
          </li>
        ))}
      </ul>
    </PanelSection>
  )
}

/** Shows a command that has ended: how, how long it ran, and the end of its output. */
function EndedShell({
  shell: { command, startedAt, outputBytes, tail, isCut, ended },
}: Pick<RunningShellProps, 'shell'>) {
  const shown = escapeLine(command)
  const took = durationText(Math.max(0, Date.parse(ended?.at ?? startedAt) - Date.parse(startedAt)))
  const isFailed = ended?.exitCode !== 0 && ended?.how !== 'stopped'
  return (
    <>
      <div className="shell-head">
        <span className={isFailed ? 'dot error' : 'dot complete'} aria-hidden="true" />
        <code title={shown}>{shown}</code>
      </div>
      <p className="panel-about">
        ended: {ended?.how} · {took} · {counted(outputBytes, 'byte')}
      </p>
      {outputBytes > 0 && <TerminalView label={`Output of ${shown}`} text={tail} isCut={isCut} />}
    </>
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
