import { basename } from 'node:path'
import type { ToolContext } from '@holdfast/core/ports'
import { escapeLine, fault, ok, type PreviewSandbox, type Result, refuse } from '@holdfast/protocol'
import { describeForModel } from '../sandbox/describe-sandbox.ts'
import { refusedBy, type Sandbox } from '../sandbox/sandbox.ts'
import type { SessionTmp } from './session-tmp.ts'

/** Judges whether the user's rules give a command the network; null if none says. */
export type JudgeNetwork = (command: string, workdir: string) => Promise<'allow' | 'ask' | 'deny' | null>

/** What the user's rules say about commands in the sandbox. */
export type CommandRules = {
  readonly judgeNetwork: JudgeNetwork
  /** Returns the paths that rules keep tools from reading: commands cannot read them either. Refused if rules cannot be read. */
  readonly deniedPaths: (workdir: string) => Promise<Result<readonly string[]>>
}

type Wanted = {
  readonly command: string
  /** The real path of the working directory. */
  readonly workdir: string
  /** Whether the model asks for the network. */
  readonly network: boolean
}

/** What a command can reach, for the question; `alwaysAsk` if a person has to decide. */
type Judged = PreviewSandbox & { readonly alwaysAsk?: string | undefined }

type Wrapped = {
  readonly argv: readonly string[]
  readonly wrapper: string | undefined
  /** Call it once the command has ended, or does not start. */
  readonly release: () => Promise<void>
  /** A sentence about denied paths that the command names and cannot read; null if there are none. */
  readonly note: string | null
}

/** Returns a command as it is, for one that is not confined. */
export const unconfined = (argv: readonly string[]): Wrapped => ({
  argv,
  wrapper: undefined,
  release: async () => undefined,
  note: null,
})

/** Decides what a command can reach, and confines it. */
export interface Confinement {
  /** Refused: sandbox_unavailable, and network_denied if a rule forbids the network it asks for. */
  judge(wanted: Wanted): Promise<Result<Judged>>
  /** Returns the program and arguments that run it. Refused as by `judge`. */
  wrap(argv: readonly string[], wanted: Wanted & { readonly context: ToolContext }): Promise<Result<Wrapped>>
  /** Describes it to the model. */
  describe(): string
}

type Deps = {
  readonly sandbox: Sandbox
  readonly tmp: SessionTmp | null
  /** Whether commands have the network unless a rule forbids it. */
  readonly network: boolean
} & Partial<CommandRules>

export function createConfinement({ sandbox, tmp, network: isOpen, judgeNetwork, deniedPaths }: Deps): Confinement {
  async function judge({ command, workdir, network }: Wanted): Promise<Result<Judged>> {
    const state = await sandbox.state(workdir)
    const { isInForce, reason } = state
    if (!isInForce) return refusedBy(state) ?? ok({ isInForce, network: true, ...(reason !== undefined && { reason }) })
    const verdict = (await judgeNetwork?.(command, workdir)) ?? null
    if (verdict === 'deny' && network) return refuse(networkDenied)
    if (verdict === 'allow' || (verdict === null && isOpen)) return ok({ isInForce, network: true })
    return ok(
      network ? { isInForce, network: true, alwaysAsk: 'it asks for the network' } : { isInForce, network: false },
    )
  }
  return {
    judge,
    describe: () => describeForModel(sandbox.known),
    async wrap(argv, { context, ...wanted }) {
      const judged = await judge(wanted)
      if (!judged.ok) return judged
      const { session, boundaries = [] } = context
      const found = deniedPaths && judged.value.isInForce ? await deniedPaths(wanted.workdir) : ok([])
      if (!found.ok) return found // what must be hidden is not known
      const denied = found.value
      const wrapped = await sandbox.wrap({
        argv,
        workdir: wanted.workdir,
        network: judged.value.network,
        hidden: denied,
        tmp: async () => (tmp && session !== undefined ? tmp.of(session) : null),
        readOnly: boundaries.map(({ path }) => path),
      })
      if (!wrapped.ok) return wrapped
      return ok(
        wrapped.value === null
          ? unconfined(argv)
          : {
              ...wrapped.value,
              wrapper: basename(wrapped.value.argv[0] ?? ''),
              note: hiddenNote(denied, wanted.command),
            },
      )
    },
  }
}

/** Names the hidden paths that a command mentions: what it prints about them gives no reason. */
function hiddenNote(denied: readonly string[], command: string): string | null {
  const named = denied.map((path) => basename(path)).filter((name) => command.includes(name))
  if (named.length === 0) return null
  return `[hidden from commands by rules of the user: ${named.map(escapeLine).join(', ')}]`
}

const networkDenied = fault(
  'network_denied',
  'A rule of the user forbids the network for this command. Run it without network: true, or tell the person.',
)
