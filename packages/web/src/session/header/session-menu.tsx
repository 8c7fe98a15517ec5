import { escapeLine, type Fault } from '@holdfast/protocol'
import { type ReactNode, useState } from 'react'
import type { Kin, Relative } from '../../list/kin.ts'
import { HeaderMenu } from '../../ui/header-menu.tsx'
import { goTo, hrefOf } from '../../ui/route.ts'
import { heldBy, holdOf, useSession } from '../state/session-context.ts'

type SessionMenuProps = { readonly kin: Kin }

type Work =
  | { readonly at: 'rest' }
  | { readonly at: 'compacting' | 'summarizing' }
  | { readonly at: 'compacted' }
  | { readonly at: 'summarized'; readonly path: string }

/** What is done with a session as a whole: its context, its calls, where it came from and what came from it. */
export function SessionMenu({ kin }: SessionMenuProps) {
  const { live, asks } = useSession()
  const [work, setWork] = useState<Work>({ at: 'rest' })
  const [fault, setFault] = useState<Fault | null>(null)
  const isWorking = work.at === 'compacting' || work.at === 'summarizing'
  const watching = heldBy(live)
  const hold = isWorking ? 'A summary is being written.' : holdOf(live)
  const isAnyFolded = live.messages.some(({ kind, collapsed }) => kind === 'tool_call' && collapsed)

  const compact = async () => {
    setWork({ at: 'compacting' })
    const refused = await asks.compact()
    setFault(refused)
    setWork({ at: refused ? 'rest' : 'compacted' })
  }
  const summarize = async () => {
    setWork({ at: 'summarizing' })
    const written = await asks.summarize()
    setFault(written.ok ? null : written.fault)
    setWork(written.ok ? { at: 'summarized', path: written.value } : { at: 'rest' })
  }
  const fork = async () => {
    const made = await asks.fork()
    setFault(made.ok ? null : made.fault)
    if (made.ok) goTo({ at: 'session', name: made.value })
  }
  return (
    <HeaderMenu label={isWorking ? <span className="working">{words[work.at]}</span> : 'More'} title="This session">
      {fault && (
        <p className="fault" role="alert">
          {escapeLine(fault.message)}
        </p>
      )}
      <p className="menu-result" role="status">
        <WorkText work={work} />
      </p>
      <div className="menu-choices">
        <MenuChoice hold={hold} title="Tell the model a summary in place of what is long past" onChoose={compact}>
          Compact
        </MenuChoice>
        <MenuChoice hold={hold} title="Write what was decided and done to a file of the folder" onChoose={summarize}>
          Summarize
        </MenuChoice>
        <MenuChoice hold={watching} title="A new session that shares the past of this one" onChoose={fork}>
          Fork
        </MenuChoice>
        <MenuChoice hold={watching} title="All tool calls at once" onChoose={asks.toggleAllFolds}>
          {isAnyFolded ? 'Open all calls' : 'Fold all calls'}
        </MenuChoice>
      </div>
      {kin.parent && <Relatives title="Came from" relatives={[kin.parent]} />}
      {kin.forks.length > 0 && <Relatives title="Forks" relatives={kin.forks} />}
    </HeaderMenu>
  )
}

const words = { compacting: 'Compacting', summarizing: 'Summarizing' } as const

type WorkTextProps = { readonly work: Work }

function WorkText({ work }: WorkTextProps) {
  switch (work.at) {
    case 'rest':
      return null
    case 'compacting':
    case 'summarizing':
      return <span className="working">{words[work.at]}</span>
    case 'compacted':
      return 'The model now sees a summary. Undo it at the line in the transcript.'
    case 'summarized':
      return (
        <>
          The summary is in <code>{escapeLine(work.path)}</code>.
        </>
      )
  }
}

type MenuChoiceProps = {
  readonly hold: string | null
  readonly title: string
  readonly onChoose: () => void
  readonly children: ReactNode
}

function MenuChoice({ hold, title, onChoose, children }: MenuChoiceProps) {
  return (
    <button type="button" disabled={hold !== null} title={hold ?? title} onClick={onChoose}>
      {children}
    </button>
  )
}

type RelativesProps = { readonly title: string; readonly relatives: readonly Relative[] }

function Relatives({ title, relatives }: RelativesProps) {
  return (
    <section className="relatives" aria-label={title}>
      <h3>{title}</h3>
      <ul>
        {relatives.map(({ id, title }) => (
          <li key={id}>
            <a href={hrefOf({ at: 'session', name: id })}>{title}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}
