import { escapeLine, type Fault, type Message, type SessionView } from '@holdfast/protocol'
import { useState } from 'react'
import { counted, relativeTime } from '../../text/format.ts'
import { messageText } from '../../text/message-text.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { HeaderMenu } from '../../ui/popover.tsx'
import { showToast } from '../../ui/toast.tsx'
import { useNow } from '../../ui/use-now.ts'
import { type ReadBranch, useBranches } from '../state/branches.ts'
import { useSession, whyHistoryLocked } from '../state/session-context.ts'

type BranchesMenuProps = { readonly view: SessionView; readonly turns: number; readonly messages: number }

/** Shows the branches as a tree. Hidden while there is only one line. */
export function BranchesMenu({ view, turns, messages }: BranchesMenuProps) {
  const { handle, live, asks } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [refused, setRefused] = useState<Fault | null>(null)
  const [moving, setMoving] = useState<string | null>(null)
  const nowMs = useNow()
  const { branches, isCurrent, fault } = useBranches(handle, view, isOpen ? 'ends' : null)
  // A branch without messages is the start, which every rewind leads to.
  const count = view.branches.filter((branch) => branch.messages > 0).length
  if (count === 0) return null

  const hold = whyHistoryLocked(live)
  const move = async (name: string) => {
    setMoving(name)
    const came = await asks.switchBranch(name)
    setRefused(came)
    setMoving(null)
    if (came) return
    setOpen(false)
    showToast({ text: `You are on ${escapeLine(name)} now. What you left is saved as a branch.` })
  }
  const problem = refused ?? fault
  // Rows that go away under the focus would take it with them, so old rows are not drawn.
  const isDrawn = isCurrent || moving !== null
  const row = (branch: ReadBranch) => (
    <li key={branch.name}>
      <BranchRow branch={branch} nowMs={nowMs} hold={moving === null ? hold : 'Switching…'} onMove={move} />
    </li>
  )
  return (
    <HeaderMenu label={counted(count, 'branch', 'branches')} title="Branches" isOpen={isOpen} onOpen={setOpen}>
      <FaultNote fault={problem} />
      {!isDrawn && !problem && <p className="menu-word working">Loading</p>}
      {isOpen && isDrawn && (
        <ul className="tree" aria-label="Branches of this session">
          {partingsOf(
            branches.filter(({ messages }) => messages > 0),
            live.messages,
          ).map((parting) => (
            <li key={parting.turn ?? 'start'} className="tree-turn">
              <p>{turnText(parting.turn, live.messages)}</p>
              <ul>{parting.branches.map(row)}</ul>
            </li>
          ))}
          <li className="tree-here">
            <p aria-current="true">
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
  readonly branch: ReadBranch
  readonly nowMs: number
  /** Why switching is disabled, or null. */
  readonly hold: string | null
  readonly onMove: (name: string) => void
}

function BranchRow({ branch: { name, turns, at, first, last }, nowMs, hold, onMove }: BranchRowProps) {
  const ago = relativeTime(at, nowMs)
  return (
    <button
      type="button"
      className="branch"
      disabled={hold !== null}
      title={hold ?? 'Switch to this branch; the current line is saved'}
      onClick={() => onMove(name)}
    >
      <strong dir="auto">{last ? messageText(last) : escapeLine(name)}</strong>
      <span>
        {escapeLine(name)} · {counted(turns, 'turn')} · saved {ago === 'now' ? 'just now' : `${ago} ago`}
      </span>
      {(first === null || first.id !== last?.id) && (
        <span className="branch-first" dir="auto">
          {first ? `begins with: ${messageText(first)}` : 'Ends here; the current line continues it.'}
        </span>
      )}
    </button>
  )
}

/** Names the turn after which branches diverge by its prompt. */
function turnText(turn: number | null, messages: readonly Message[]): string {
  if (turn === null) return 'The start'
  const prompt = messages.find((message) => message.turn === turn && message.kind === 'user')
  return `After ${prompt ? `“${messageText(prompt)}”` : `turn ${turn}`}`
}

/** The branches that diverge after `turn`, or before the first turn. */
type Parting = { readonly turn: number | null; readonly branches: readonly ReadBranch[] }

/** Groups branches by where they diverge. `known` are the loaded messages of the line. */
export function partingsOf(branches: readonly ReadBranch[], known: readonly Message[]): readonly Parting[] {
  const partings = new Map<number | null, ReadBranch[]>()
  for (const branch of branches) {
    const turn = lastSharedTurn(branch, known)
    partings.set(turn, [...(partings.get(turn) ?? []), branch])
  }
  return [...partings]
    .map(([turn, branches]) => ({ turn, branches }))
    .sort((left, right) => (left.turn ?? -1) - (right.turn ?? -1))
}

/** Returns the last turn that a branch shares with the line. */
function lastSharedTurn({ differsAt, turns, first }: ReadBranch, known: readonly Message[]): number | null {
  if (differsAt === null) return turns === 0 ? null : turns - 1 // the line continues it
  if (!first || first.parent === null) return null
  const shared = known.find(({ id }) => id === first.parent)
  if (shared) return shared.turn
  if (first.kind !== 'user') return first.turn // a message was added to the end of a turn
  return first.turn === 0 ? null : first.turn - 1
}
