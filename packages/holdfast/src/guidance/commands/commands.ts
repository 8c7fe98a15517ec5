import { join } from 'node:path'
import type { Expansion, Skills, SlashCommands } from '@holdfast/core/ports'
import {
  builtInCommands,
  escapeLine,
  fault,
  limits,
  noSuchCommand,
  ok,
  type Result,
  refuse,
  type SlashCommand,
} from '@holdfast/protocol'
import { createOffer, type Offer } from '../../trust/offer.ts'
import type { FindOffers } from '../../trust/offer-trust.ts'
import { createTrustedGuidance, type GuidanceDeps } from '../trusted-guidance.ts'
import { untrusted } from '../untrusted.ts'
import { expandTemplate } from './expand-template.ts'
import { type CommandFile, createCommandFinder } from './find-commands.ts'

/** A command of some source. */
export type SourceCommand = SlashCommand & {
  /** False for a command of a workspace that is not trusted in its current form. */
  readonly isTrusted: boolean
  /** The server that it is a prompt of. */
  readonly server?: string | undefined
  /** Returns what the command is replaced by. */
  readonly expand: (given: string) => Promise<Result<Expansion>>
}

/** Lists the commands of one kind for a folder. */
export type CommandSource = (workdir: string) => Promise<readonly SourceCommand[]>

/** Commands of a source that may not know all of its commands yet. */
export type LateSource = {
  readonly list: CommandSource
  /** Finds out whether there is a command of this name. It is then listed. */
  readonly find: (workdir: string, name: string) => Promise<void>
}

type CommandsDeps = GuidanceDeps & {
  readonly skills: Skills
  /** Commands that come from elsewhere, such as the prompts of servers. */
  readonly others?: LateSource | undefined
}

/** The slash commands of this machine, and those of a workspace as what it offers. */
export type CommandFolders = SlashCommands & { readonly offers: FindOffers }

/** Creates the slash commands. Of two with the same name the earlier source counts: built-in, skill, file, server. */
export function createCommands({ skills, others, ...deps }: CommandsDeps): CommandFolders {
  const files = createTrustedGuidance<CommandFile>(deps, {
    kind: 'commands',
    find: createCommandFinder(),
    pathOf: ({ path }) => path,
    offer: offerCommand,
  })
  const fileSource: CommandSource = async (workdir) =>
    (await files.find(workdir)).map(({ item, isTrusted }) => ofFile(item, isTrusted))
  const sources: readonly CommandSource[] = [
    listBuiltIns(() => list),
    listSkillCommands(skills),
    fileSource,
    ...(others ? [others.list] : []),
  ]

  /** Returns all commands by name. An untrusted one never hides a trusted one. */
  const findAll = async (workdir: string): Promise<ReadonlyMap<string, SourceCommand>> => {
    const found = (await Promise.all(sources.map((source) => source(workdir)))).flat()
    const byName = new Map<string, SourceCommand>()
    for (const isTrusted of [true, false])
      for (const command of found)
        if (command.isTrusted === isTrusted && !byName.has(command.name)) byName.set(command.name, command)
    return byName
  }
  const isOff = ({ server }: SourceCommand, serversOff: readonly string[]): boolean =>
    server !== undefined && serversOff.includes(server)
  const list = async (workdir: string, serversOff: readonly string[] = []): Promise<readonly SlashCommand[]> =>
    [...(await findAll(workdir)).values()]
      .filter((command) => command.isTrusted && !isOff(command, serversOff))
      .map(({ isTrusted: _, expand: _expand, server: _server, ...command }) => command)
      .sort((a, b) => (a.name < b.name ? -1 : 1))

  return {
    list,
    async expand({ workdir, name, given, serversOff }) {
      if (others && !(await findAll(workdir)).has(name)) await others.find(workdir, name)
      const found = await findAll(workdir)
      const command = found.get(name)
      if (!command) {
        const missing = noSuchCommand({ name, given }, [...found.keys()])
        return missing ? refuse(missing) : ok(null)
      }
      if (isOff(command, serversOff)) return refuse(serverOff(name, command.server ?? ''))
      return command.isTrusted ? command.expand(given) : refuse(untrusted('command', name))
    },
    offers: files.offers,
  }
}

const offerCommand = async (name: string, { source }: CommandFile): Promise<Offer> =>
  createOffer({ kind: 'command', name, path: name, text: source })

const ofFile = (file: CommandFile, isTrusted: boolean): SourceCommand => ({
  name: file.name,
  description: file.description,
  arguments: file.argumentHint,
  source: 'file',
  scope: file.scope,
  path: file.path,
  isTrusted,
  expand: async (given) => {
    const pieces = expandTemplate({ template: file.template, names: file.argumentNames }, given)
    return ok({ type: 'prompt', pieces })
  },
})

/** Lists the skills that people can call by name. Untrusted skills are listed so that using one explains why it is refused. */
const listSkillCommands =
  (skills: Skills): CommandSource =>
  async (workdir) => {
    const { skills: found } = await skills.list(workdir)
    return found.flatMap((skill): readonly SourceCommand[] => {
      const { name, description, scope, folder, state, isCommand } = skill
      if (!isCommand && state !== 'untrusted') return []
      const expand = async (given: string): Promise<Result<Expansion>> => {
        const read = await skills.read({ workdir, name, arguments: given, charsMax: limits.skillCharsMax })
        if (!read.ok) return read
        const { hash, text } = read.value
        return ok({ type: 'prompt', pieces: [{ type: 'text', text }], skill: { name, hash } })
      }
      const command = { name, description, arguments: skill.arguments, source: 'skill', scope } as const
      return [{ ...command, path: join(folder, 'SKILL.md'), isTrusted: state !== 'untrusted', expand }]
    })
  }

type ListCommands = (workdir: string) => Promise<readonly SlashCommand[]>

/** Lists the built-in commands. Those that stand for a command of the session run before anything is expanded. */
const listBuiltIns =
  (listAll: () => ListCommands): CommandSource =>
  async (workdir) => {
    const builtIn = { source: 'built-in', scope: null, path: null, isTrusted: true } as const
    const standIns = [...builtInCommands].map(([name, { description, arguments: named }]) => ({
      ...builtIn,
      name,
      description,
      arguments: named,
      expand: async (): Promise<Result<Expansion>> => refuse(notQueued(name)),
    }))
    return [
      ...standIns,
      {
        ...builtIn,
        name: 'help',
        description: 'list the slash commands',
        arguments: null,
        expand: async () => ok({ type: 'note', text: helpText(await listAll()(workdir)) }),
      },
      {
        ...builtIn,
        name: 'remember',
        description: 'add a line to the memory',
        arguments: '<what>',
        expand: async (given) =>
          given === ''
            ? refuse(fault('bad_request', 'Write /remember <what>: add a line to the memory.'))
            : ok({ type: 'prompt', pieces: [{ type: 'text', text: `Remember this, with memory_write:\n\n${given}` }] }),
      },
    ]
  }

const serverOff = (name: string, server: string) =>
  fault(
    'bad_request',
    `/${name} is a prompt of the server ${escapeLine(server)}, which is off in this session. Turn it on first.`,
    {
      name,
      server,
    },
  )

const notQueued = (name: string) =>
  fault('bad_request', `/${name} runs at once; it cannot wait in a queue. Send it as a prompt.`, { name })

const helpText = (commands: readonly SlashCommand[]): string =>
  commands
    .map((one) => `/${one.name}${one.arguments === null ? '' : ` ${one.arguments}`}: ${one.description}`)
    .map((line) => escapeLine(line))
    .join('\n')
