import { escapeLine } from '@holdfast/protocol/hostile-text'
import type { RunCommand } from '../../args/command-spec.ts'
import { completionScripts } from '../../completion/completion-scripts.ts'
import { rejectUsage } from '../../terminal/exit.ts'
import type { programSpecs } from './specs.ts'

/** Prints the script that completes the words of this program in a shell. */
export const run: RunCommand<typeof programSpecs.completion> = async ({ positionals: [shell = ''] }, { out }) => {
  const scripts: Readonly<Record<string, string>> = completionScripts
  const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
  if (script === undefined)
    return rejectUsage(`completion is for ${Object.keys(scripts).join(', ')}, not for '${escapeLine(shell)}'.`)
  await out.write(script)
}
