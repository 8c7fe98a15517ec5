import { type ActiveSkill, escapeLine, type ListedSkill, type SkillState } from '@holdfast/protocol'
import { useContext } from 'react'
import { FaultNote } from '../../ui/elements.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { useLive, useSession, WatchingContext } from '../state/session-context.ts'
import { ReviewButton } from '../trust/review-dialog.tsx'
import { UntrustedContext } from '../trust/use-untrusted.ts'
import { PanelSection } from './panel-section.tsx'

/** Lists the skills with a switch for each. Hidden where there are none. */
export function SkillsSection({ active }: { readonly active: readonly ActiveSkill[] }) {
  const { skills, fault } = useSkills(active)
  if (skills.length === 0 && fault === null) return null
  const count = skills.filter((skill) => skill.active !== null).length
  return (
    <PanelSection title="Skills" about={count > 0 ? `${count} active` : undefined}>
      <FaultNote fault={fault} />
      <ul className="skills">
        {skills.map((skill) => (
          <SkillRow key={skill.folder} skill={skill} />
        ))}
      </ul>
    </PanelSection>
  )
}

/** What the model knows of a skill, if that is not everything. */
const stateWords: Readonly<Record<SkillState, string | null>> = {
  listed: null,
  cut: 'the model knows its name only',
  hidden: 'the model does not know it',
  untrusted: 'not trusted yet',
  shadowed: 'another one has this name',
  unusable: 'cannot be used',
}

function SkillRow({
  skill: { name, description, scope, state, folder, problems, active },
}: {
  readonly skill: ListedSkill
}) {
  const { asks } = useSession()
  const watching = useContext(WatchingContext)
  const isUsable = state === 'listed' || state === 'cut' || state === 'hidden'
  const about = [scope === 'user' ? 'yours' : 'of this workspace', active && byWords[active.by], stateWords[state]]
  return (
    <li>
      <label title={watching ?? escapeLine(folder)}>
        <input
          type="checkbox"
          checked={active !== null}
          disabled={watching !== null || !(isUsable || active !== null)}
          onChange={() => asks.setSkill(name, active === null)}
        />
        <code>{escapeLine(name)}</code>
      </label>
      <span className="panel-about">{about.filter((word) => word !== null).join(' · ')}</span>
      {state === 'untrusted' && <ReviewButton className="link" label={`Review ${escapeLine(name)}`} />}
      {description !== '' && <p>{escapeLine(description)}</p>}
      {problems.map(({ message, line }) => (
        <p key={`${line} ${message}`} className="nothing">
          {line === null ? '' : `Line ${line}: `}
          {escapeLine(message)}
        </p>
      ))}
    </li>
  )
}

const byWords = { person: 'active', model: 'activated by the model' } as const

/** Loads the skills: at first, when one is activated, ends or is trusted, and when a turn ends, because files may have changed. */
function useSkills(active: readonly ActiveSkill[]) {
  const { handle } = useSession()
  const { offers } = useContext(UntrustedContext)
  const lastTurn = useLive(({ view }) => view?.lastTurn ?? null)
  const { value, fault } = useLoaded(() => handle.skills(), [handle, active, lastTurn, offers])
  return { skills: value ?? [], fault }
}
