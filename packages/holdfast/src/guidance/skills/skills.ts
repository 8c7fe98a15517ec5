import { join } from 'node:path'
import type { Skills } from '@holdfast/core/ports'
import { type FoundSkill, limits, noSuchSkill, ok, type Result, refuse } from '@holdfast/protocol'
import { findWorkspaceRoot } from '../../system/files/workspace-root.ts'
import { findTrusted } from '../../trust/find-trusted.ts'
import type { Offer } from '../../trust/offer.ts'
import type { TrustedWorkspaces } from '../../trust/trusted-workspaces.ts'
import { readGuidanceText } from '../guidance-file.ts'
import { listGuidanceRoots } from '../guidance-roots.ts'
import { untrusted } from '../untrusted.ts'
import { composeSkill } from './compose-skill.ts'
import { createSkillFinder, type SkillOnDisk, skillFileName } from './find-skills.ts'
import type { SkillFile } from './parse-skill.ts'
import { createSkillOffers, offerNameOf } from './skill-offers.ts'
import { writeSkillsText } from './skills-text.ts'

type SkillsDeps = {
  readonly configDir: string
  readonly userDir: string
  readonly trusted: Pick<TrustedWorkspaces, 'items' | 'judge'>
}

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
export type SkillFolders = Skills & {
  /** Returns the skills of a workspace as offers. */
  offers(place: { readonly workdir: string; readonly workspace: string }): Promise<readonly Offer[]>
}

/** Creates the skills. They are looked for each time; files that have not changed are not read again. */
export function createSkills({ configDir, userDir, trusted }: SkillsDeps): SkillFolders {
  const findOnDisk = createSkillFinder()
  const offerOf = createSkillOffers()
  const running = new Map<string, Promise<readonly Judged[]>>()

  const find = async (workdir: string): Promise<readonly Judged[]> => {
    const workspace = await findWorkspaceRoot(workdir, userDir)
    const found = await findOnDisk(listGuidanceRoots('skills', { workdir, workspace, configDir, userDir }))
    const trustedOnes = await findTrusted({
      ...{ trusted, workspace, kind: 'skill' as const },
      things: found.filter((skill) => skill.scope === 'workspace'),
      nameOf: (skill: SkillOnDisk) => offerNameOf(workspace, skill),
      offer: (skill: SkillOnDisk) => offerOf(workspace, skill),
    })
    return judge(found, (skill) => skill.scope === 'user' || trustedOnes.has(skill))
  }
  /** Finds the skills once for all who ask at the same time: a step asks twice. */
  const findShared = (workdir: string): Promise<readonly Judged[]> => {
    const known = running.get(workdir)
    if (known) return known
    const finding = find(workdir).finally(() => running.delete(workdir))
    running.set(workdir, finding)
    return finding
  }
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
      const read = await readGuidanceText(skill.value.folder, path, limits.readFileBytesMax)
      if (read.ok)
        return ok(read.value.isCut ? `${read.value.text}\n[cut at ${limits.readFileBytesMax} bytes]` : read.value.text)
      return refuse({ ...read.fault, message: read.fault.message.replace('working directory', 'folder of the skill') })
    },
    async offers({ workdir, workspace }) {
      const found = await findOnDisk(listGuidanceRoots('skills', { workdir, workspace, configDir, userDir }))
      const offered = await Promise.all(
        found.filter(({ scope }) => scope === 'workspace').map((skill) => offerOf(workspace, skill)),
      )
      return offered.filter((offer) => offer !== null)
    },
  }
}

const isReadable = (skill: SkillOnDisk): skill is Readable => skill.file.ok

/** Says what each skill is used for. An untrusted one never hides a trusted one. */
function judge(found: readonly SkillOnDisk[], isTrusted: (skill: SkillOnDisk) => boolean): readonly Judged[] {
  const used = new Map<string, string>()
  return found.map((skill) => {
    if (!skill.file.ok || !usableName.test(skill.name)) return { skill, state: 'unusable', shadowedBy: null }
    if (!isTrusted(skill)) return { skill, state: 'untrusted', shadowedBy: null }
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
    ...{ name, scope, folder, shadowedBy },
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
