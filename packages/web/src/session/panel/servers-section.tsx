import { escapeHidden, escapeLine, type ServerState, type SessionServer } from '@holdfast/protocol'
import { useContext, useState } from 'react'
import { FaultNote } from '../../ui/elements.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useLive, useSession, WatchingContext } from '../state/session-context.ts'
import { ReviewButton } from '../trust/review-dialog.tsx'
import { UntrustedContext } from '../trust/use-untrusted.ts'
import { PanelSection } from './panel-section.tsx'

/** Lists the MCP servers with a switch for each. Hidden where there are none. */
export function ServersSection({ off }: { readonly off: readonly string[] }) {
  const { servers, fault, reload } = useServers(off)
  if (servers.length === 0 && fault === null) return null
  const failed = servers.filter(({ state, isOn }) => isOn && (state === 'failed' || state === 'needs_sign_in')).length
  return (
    <PanelSection title="MCP servers" about={failed > 0 ? `${failed} not reached` : undefined}>
      <FaultNote fault={fault} />
      <ul className="skills servers">
        {servers.map((server) => (
          <ServerRow key={server.name} server={server} onTried={reload} />
        ))}
      </ul>
    </PanelSection>
  )
}

const stateWords: Readonly<Record<ServerState, string>> = {
  known: 'starts when it is needed',
  starting: 'starting',
  ready: 'running',
  failed: 'failed',
  needs_sign_in: 'needs sign-in',
  untrusted: 'not trusted yet',
  off: 'off in its file',
}

const toolWords = ({ tools, state }: SessionServer): string | null => {
  if (tools === null) return state === 'known' ? 'tools not asked for yet' : null
  return tools === 1 ? '1 tool' : `${tools} tools`
}

type ServerRowProps = { readonly server: SessionServer; readonly onTried: () => void }

function ServerRow({ server, onTried }: ServerRowProps) {
  const { name, scope, state, isOn, why, tools, target, problems } = server
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  const isUsable = state !== 'untrusted' && state !== 'off'
  const about = [scope === 'user' ? 'yours' : 'of this workspace', stateWords[state], toolWords(server)]
  return (
    <li>
      <label title={watching ?? escapeLine(target)}>
        <input
          type="checkbox"
          checked={isOn && isUsable}
          disabled={watching !== null || !isUsable}
          onChange={() => asks.setServer(name, !isOn)}
        />
        <code>{escapeLine(name)}</code>
      </label>
      <span className="panel-about">{about.filter((word) => word !== null).join(' · ')}</span>
      {state === 'untrusted' && <ReviewButton className="link" label={`Review ${escapeLine(name)}`} />}
      {isOn && (state === 'failed' || state === 'needs_sign_in') && (
        <AskButton word="Retry" name={name} isOff={watching !== null} onTried={onTried} />
      )}
      {isOn && state === 'known' && tools === null && (
        <AskButton word="List tools" name={name} isOff={watching !== null} onTried={onTried} />
      )}
      {why !== null && <p className="server-why">{escapeHidden(why)}</p>}
      {problems.map((problem) => (
        <p key={problem} className="nothing">
          {escapeHidden(problem)}
        </p>
      ))}
    </li>
  )
}

type AskButtonProps = Pick<ServerRowProps, 'onTried'> & {
  readonly word: 'Retry' | 'List tools'
  readonly name: string
  readonly isOff: boolean
}

/** Starts a server, and asks what it offers. */
function AskButton({ word, name, isOff, onTried }: AskButtonProps) {
  const { asks } = useSession()
  const [isTrying, setTrying] = useState(false)
  const ask = async () => {
    setTrying(true)
    await asks.retryServer(name) // its new state says whether that worked
    setTrying(false)
    onTried()
  }
  return (
    <button
      type="button"
      className="link"
      disabled={isOff || isTrying}
      aria-label={`${word} ${word === 'Retry' ? '' : 'of '}${escapeLine(name)}`}
      onClick={ask}
    >
      {isTrying ? 'Trying…' : word}
    </button>
  )
}

/** Loads the servers: at first, when one is switched or trusted, and when a call or a turn ends, because that may start one. */
function useServers(off: readonly string[]) {
  const { handle } = useSession()
  const [tries, setTries] = useState(0)
  const { offers } = useContext(UntrustedContext)
  const lastTurn = useLive(({ view }) => view?.lastTurn ?? null)
  const running = useLive(({ view }) => view?.activeToolCalls.length ?? 0)
  const { value, fault } = useLoaded(() => handle.servers(), [handle, off, lastTurn, running, offers, tries])
  return { servers: value ?? [], fault, reload: () => setTries((count) => count + 1) }
}
