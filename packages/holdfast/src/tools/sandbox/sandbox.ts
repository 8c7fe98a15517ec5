import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnPath } from '@holdfast/core/ports'
import { fault, ok, type Result, refuse } from '@holdfast/protocol'
import { listOwnPaths } from '../../system/files/own-paths.ts'
import { isInside } from '../../system/files/resolve-path.ts'
import type { Environment } from '../../system/home.ts'
import { bubblewrapArguments, expectedMounts } from './bubblewrap.ts'
import { type Bubblewrap, findBubblewrap } from './find-bubblewrap.ts'
import { findGitPaths, realPaths } from './git-paths.ts'
import { findHiddenPaths } from './hidden-paths.ts'
import { checkMounts } from './mount-check.ts'
import type { Placeholder, Placeholders } from './placeholders.ts'

/** `auto`: where it works; `on`: no command without it; `off`: never. */
export type SandboxSetting = 'auto' | 'on' | 'off'

/** Whether commands run in the sandbox. */
export type SandboxState = {
  readonly setting: SandboxSetting
  readonly isInForce: boolean
  /** Why it is not in force, as part of a sentence. */
  readonly reason?: string | undefined
}

/** A command to be run in the sandbox. */
type Sandboxed = {
  readonly argv: readonly string[]
  readonly workdir: string
  /** Returns the directory that is `/tmp` for the command; null for an empty one. Called only if it is confined. */
  readonly tmp: () => Promise<string | null>
  readonly network: boolean
  /** Files of the workdir that it must not change, relative to it. */
  readonly readOnly: readonly string[]
  /** Paths that it must not read. */
  readonly hidden?: readonly string[] | undefined
}

/** The program and arguments that run a command in the sandbox. `release` is called once it has ended, or does not start. */
export type WrappedCommand = { readonly argv: readonly string[]; readonly release: () => Promise<void> }

/** Confines commands with bubblewrap. */
export interface Sandbox {
  /** Returns whether commands in this folder are confined. The first call tries it out. */
  state(workdir: string): Promise<SandboxState>
  /** Returns the last state that `state` found; null before. For descriptions, which do not wait. */
  readonly known: SandboxState | null
  /** Returns what runs a command confined; null if it runs without. Refused: sandbox_unavailable. */
  wrap(command: Sandboxed): Promise<Result<WrappedCommand | null>>
}

type SandboxDeps = {
  readonly setting: SandboxSetting
  readonly environment: Environment
  /** Directories and files of Holdfast: its data, config and tokens. */
  readonly ownPaths: readonly OwnPath[]
  readonly placeholders: Placeholders
  /** Finds bubblewrap; tests give another. */
  readonly find?: ((searchPath: string | undefined) => Promise<Bubblewrap>) | undefined
}

/** Creates the sandbox of shell commands. Bubblewrap is tried out once, when it is first needed. */
export function createSandbox(deps: SandboxDeps): Sandbox {
  const { setting, environment, ownPaths, placeholders, find = findBubblewrap } = deps
  let found: Promise<Bubblewrap> | null = null
  let known: SandboxState | null = setting === 'off' ? { setting, isInForce: false, reason: switchedOff } : null

  async function look(workdir: string): Promise<{ readonly state: SandboxState; readonly path: string | null }> {
    if (setting === 'off') return { state: { setting, isInForce: false, reason: switchedOff }, path: null }
    found ??= find(environment['PATH'])
    const bubblewrap = await found
    const reason = bubblewrap.path === null ? bubblewrap.reason : unusable(workdir, bubblewrap.path)
    known = { setting, isInForce: reason === null, ...(reason !== null && { reason }) }
    return { state: known, path: reason === null ? bubblewrap.path : null }
  }

  return {
    state: async (workdir) => (await look(workdir)).state,
    get known() {
      return known
    },
    async wrap({ argv, workdir, tmp, network, readOnly, hidden: denied = [] }) {
      const { state, path } = await look(workdir)
      if (path === null) return refusedBy(state) ?? ok(null)
      const git = await findGitPaths(workdir)
      const { made, release } = await placeholders.make([...git.absent, ...(await absentMemory(workdir))])
      try {
        // Later sessions read `.holdfast`: a command must not write what they believe.
        const present = await realPaths(workdir, [memoryFolder, ...readOnly])
        const files = made.filter(({ content }) => content !== null).map((one) => one.path)
        const folders = made.filter(({ content }) => content === null).map((one) => one.path)
        const kept = present.filter((one) => !folders.includes(one))
        const around = ownPaths.flatMap((one) => (typeof one === 'string' ? [] : [one.directory]))
        const own = [...around, ...(await listOwnPaths(workdir, ownPaths))]
        const hidden = await findHiddenPaths(environment, [...own, ...denied])
        const confines = {
          workdir,
          network,
          hidden,
          outside: git.outside,
          tmp: await tmp(),
          readOnly: [...new Set([...git.readOnly, ...files, ...kept])],
          keptEmpty: [...new Set([...git.keptEmpty, ...folders])],
        }
        const check = await checkMounts(expectedMounts(confines))
        if (check.ok) return ok({ argv: [path, ...bubblewrapArguments(confines), ...check.value, ...argv], release })
        await release()
        return check
      } catch (error) {
        await release()
        throw error
      }
    },
  }
}

/** Returns the folder of a workspace's memory if it does not exist, or is what an earlier command found. */
async function absentMemory(workdir: string): Promise<readonly Placeholder[]> {
  const path = join(workdir, memoryFolder)
  const stats = await lstat(path).catch(() => null)
  const isEmpty = stats?.isDirectory() === true && (await readdir(path)).length === 0
  return stats === null || isEmpty ? [{ path, content: null }] : []
}

const memoryFolder = '.holdfast'
const switchedOff = 'it is switched off'

/** Returns the refusal of every command if the setting is `on` and the sandbox cannot be used. */
export function refusedBy({ setting, isInForce, reason }: SandboxState): Result<never> | null {
  if (isInForce || setting !== 'on') return null
  const message = `No command runs without the sandbox, and it cannot be used: ${reason}. Install bubblewrap, or let a person set sandbox to auto or off.`
  return refuse(fault('sandbox_unavailable', message))
}

function unusable(workdir: string, bubblewrap: string): string | null {
  if (workdir === '/') return 'the working directory is the whole machine'
  return isInside(workdir, bubblewrap) ? 'bubblewrap is in the working directory, where commands can replace it' : null
}
