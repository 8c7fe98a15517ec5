import type { RunCommand } from '../../args/command-spec.ts'
import { findAction } from '../../args/find-action.ts'
import { completionScripts } from '../../completion/completion-scripts.ts'
import type { programSpecs } from './specs.ts'

/** Prints the script that completes the words of this program in a shell. */
export const run: RunCommand<typeof programSpecs.completion> = async ({ positionals: [shell = ''] }, { out }) =>
  void (await out.write(findAction('completion', shell, completionScripts)))
