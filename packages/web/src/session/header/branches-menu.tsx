import { escapeLine, type Fault, type Message, type SessionView } from '@holdfast/protocol'
import { useRef, useState } from 'react'
import { counted } from '../../text/counted.ts'
import { messageText } from '../../text/message-text.ts'
import { relativeTime } from '../../text/relative-time.ts'
import { HeaderMenu } from '../../ui/header-menu.tsx'
import { useNow } from '../../ui/use-now.ts'
import { holdOf, useSession } from '../state/session-context.ts'
import { partingsOf, type ShownBranch } from './branch-tree.ts'
import { useBranches } from './use-branches.ts'

type BranchesMenuProps = { readonly view: SessionView; readonly turns: number; readonly messages: number }

/** Shows the branches as a tree. Hidden while there is only one line. */
export function BranchesMenu({ view, turns, messages }: BranchesMenuProps) {
  const { handle, live, asks } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [refused, setRefused] = useState<Fault | null>(null)
  const [moving, setMoving] = useState<string | null>(null)
  const here = useRef<HTMLParagraphElement>(null)
  const nowMs = useNow()
  const { branches, fault } = useBranches(handle, view, isOpen)
  if (view.branches.length === 0) return null

  const hold = holdOf(live)
  const move = async (name: string) => {
    setMoving(name)
    const came = await asks.switchBranch(name)
    setRefused(came)
    setMoving(null)
    if (!came) here.current?.focus()
  }
  const problem = refused ?? fault
  const row = (branch: ShownBranch) => (
    <li key={branch.name}>
      <BranchRow branch={branch} nowMs={nowMs} hold={moving === null ? hold : 'Switching…'} onMove={move} />
    </li>
  )
  return (
    <HeaderMenu label={counted(view.branches.length, 'branch', 'branches')} title="Branches" onOpen={setOpen}>
      {problem && (
        <p className="fault" role="alert">
          {escapeLine(problem.message)}
        </p>
      )}
      {!branches && !problem && <p className="menu-word working">Loading</p>}
      {isOpen && branches && (
        <ul className="tree" aria-label="Branches of this session">
          {partingsOf(branches, live.messages).map((parting) => (
            <li key={parting.turn ?? 'start'} className="tree-turn">
              <p>{turnText(parting.turn, live.messages)}</p>
              <ul>{parting.branches.map(row)}</ul>
            </li>
          ))}
          <li className="tree-here">
            <p ref={here} tabIndex={-1} aria-current="true">
              <strong>{view.branch === null ? 'You are here' : escapeLine(view.branch)}</strong>
              <span>
                {view.branch !== null && 'you are here · '}
                {counted(turns, 'turn')} · {counted(messages, 'message')}
              </span>
            </p>
          </li>
        </ul>
      )}
    </HeaderMenu>
  )
}

type BranchRowProps = {
  readonly branch: ShownBranch
  readonly nowMs: number
  /** Why switching is disabled, or null. */
  readonly hold: string | null
  readonly onMove: (name: string) => void
}

function BranchRow({ branch: { name, turns, messages, at, first }, nowMs, hold, onMove }: BranchRowProps) {
  const ago = relativeTime(at, nowMs)
  return (
    <button
      type="button"
      className="branch"
      disabled={hold !== null}
      title={hold ?? 'Switch to this branch; the current line is saved'}
      onClick={() => onMove(name)}
    >
      <strong>{escapeLine(name)}</strong>
      <span>
        {counted(turns, 'turn')} · {counted(messages, 'message')} · left {ago === 'now' ? 'just now' : `${ago} ago`}
      </span>
      <span className="branch-first" dir="auto">
        {first ? messageText(first) : 'Ends here; the current line continues it.'}
      </span>
    </button>
  )
}

/** Names the turn after which branches diverge by its prompt. */
function turnText(turn: number | null, messages: readonly Message[]): string {
  if (turn === null) return 'The start'
  const prompt = messages.find((message) => message.turn === turn && message.kind === 'user')
  return `After ${prompt ? `“${messageText(prompt)}”` : `turn ${turn}`}`
}
