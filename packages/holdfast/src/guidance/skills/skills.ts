import { join } from 'node:path'
import type { Skills } from '@holdfast/core/ports'
import { type FoundSkill, limits, noSuchSkill, ok, type Result, refuse } from '@holdfast/protocol'
import { createSharedWork } from '../../system/files/shared-work.ts'
import type { FindOffers } from '../../trust/offer-trust.ts'
import { readGuidanceText } from '../guidance-file.ts'
import { createTrustedGuidance, type GuidanceDeps } from '../trusted-guidance.ts'
import { untrusted } from '../untrusted.ts'
import { composeSkill, folderName } from './compose-skill.ts'
import { createSkillFinder, type SkillOnDisk, skillFileName } from './find-skills.ts'
import type { SkillFile } from './parse-skill.ts'
import { createSkillOffers } from './skill-offers.ts'
import { writeSkillsText } from './skills-text.ts'

/** A part of the context for names and descriptions: about 1 % of what a model takes. */
const listCharsMax = 8000

/** Names that can be typed after a slash, and stand in a text without being mistaken for something else. */
const usableName = new RegExp(`^[A-Za-z0-9][A-Za-z0-9._-]{0,${limits.skillNameCharsMax - 1}}$`)

type Readable = SkillOnDisk & { readonly file: { readonly ok: true } }

/** A skill with what follows from trust and from skills of the same name. */
type Judged = {
  readonly skill: SkillOnDisk
  readonly state: 'used' | FoundSkill['state']
  readonly shadowedBy: string | null
}

/** What the skills of this machine can do for sessions, and for the list of what a workspace offers. */
export type SkillFolders = Skills & { readonly offers: FindOffers }

/** Creates the skills. They are looked for each time; files that have not changed are not read again. */
export function createSkills(deps: GuidanceDeps): SkillFolders {
  const { find, offers } = createTrustedGuidance<SkillOnDisk>(deps, {
    kind: 'skills',
    find: createSkillFinder(),
    pathOf: ({ folder }) => folder,
    offer: createSkillOffers(),
  })
  const findShared = createSharedWork(async (workdir) => judge(await find(workdir))) // a step asks twice
  const findNamed = async (workdir: string, name: string): Promise<Result<Readable>> => {
    const found = await findShared(workdir)
    const used = found.filter(({ state }) => state === 'used')
    const skill = used.find((one) => one.skill.name === name)?.skill
    if (skill && isReadable(skill)) return ok(skill)
    if (found.some((one) => one.skill.name === name && one.state === 'untrusted'))
      return refuse(untrusted('skill', name))
    return refuse(
      noSuchSkill(
        name,
        used.map((one) => one.skill.name),
      ),
    )
  }

  return {
    async list(workdir) {
      const found = await findShared(workdir)
      const told = found.flatMap(({ skill, state }) =>
        state === 'used' && skill.file.ok && skill.file.value.isForModel
          ? [{ ...skill.file.value, name: skill.name }]
          : [],
      )
      const { text, cut } = writeSkillsText(told, listCharsMax)
      return { skills: found.map((one) => toFound(one, new Set(cut))), told: text }
    },
    async read({ workdir, name, arguments: given = '', charsMax }) {
      const skill = await findNamed(workdir, name)
      if (!skill.ok) return skill
      const { folder, file } = skill.value
      return ok({ name, ...(await composeSkill({ name, folder, skill: file.value, given, charsMax })) })
    },
    async readFile({ workdir, name, path }) {
      const skill = await findNamed(workdir, name)
      if (!skill.ok) return skill
      const bytesMax = limits.readFileBytesMax
      const read = await readGuidanceText(skill.value.folder, path, { bytesMax, folderName })
      if (!read.ok) return read
      return ok(read.value.isCut ? `${read.value.text}\n[cut at ${bytesMax} bytes]` : read.value.text)
    },
    offers,
  }
}

const isReadable = (skill: SkillOnDisk): skill is Readable => skill.file.ok

/** Says what each skill is used for. An untrusted one never hides a trusted one. */
function judge(found: readonly { readonly item: SkillOnDisk; readonly isTrusted: boolean }[]): readonly Judged[] {
  const used = new Map<string, string>()
  return found.map(({ item: skill, isTrusted }) => {
    if (!skill.file.ok || !usableName.test(skill.name)) return { skill, state: 'unusable', shadowedBy: null }
    if (!isTrusted) return { skill, state: 'untrusted', shadowedBy: null }
    const shadowedBy = used.get(skill.name) ?? null
    if (shadowedBy !== null) return { skill, state: 'shadowed', shadowedBy }
    used.set(skill.name, skill.folder)
    return { skill, state: 'used', shadowedBy: null }
  })
}

function toFound({ skill, state, shadowedBy }: Judged, cut: ReadonlySet<string>): FoundSkill {
  const { name, scope, folder, file } = skill
  const path = join(folder, skillFileName)
  const known: SkillFile | null = file.ok ? file.value : null
  const problems = file.ok ? file.value.problems : [{ line: null, message: sentence(file.fault.message) }]
  const badName = usableName.test(name) ? [] : [{ line: null, message: unusableName }]
  const seen = known?.isForModel ? (cut.has(name) ? 'cut' : 'listed') : 'hidden'
  return {
    name,
    scope,
    folder,
    shadowedBy,
    description: known?.description ?? '',
    arguments: known?.argumentHint ?? null,
    state: state === 'used' ? seen : state,
    isCommand: state === 'used' && known?.isForPeople === true,
    allowedTools: [...(known?.allowedTools ?? [])],
    problems: [...badName, ...problems].map((problem) => ({ path, ...problem })),
  }
}

const sentence = (text: string): string => (text.endsWith('.') ? text : `${text}.`)

const unusableName = `The name of its folder cannot be used: it needs a letter or digit first, then letters, digits, dots, hyphens and underscores, and at most ${limits.skillNameCharsMax} characters.`
