import { notApplicable, runScenario, scenarios } from './scenarios.ts'

/** Runs all scenarios and prints a table for docs/mcp.md. */
let failures = 0
for (const scenario of scenarios) {
  const { code, printed } = await runScenario(scenario)
  const checks = /Passed: (\d+)\/(\d+)/.exec(printed)
  console.log(
    `| \`${scenario}\` | ${code === 0 ? 'passed' : 'failed'} | ${checks ? `${checks[1]} of ${checks[2]}` : ''} |`,
  )
  if (code !== 0) {
    failures += 1
    console.error(printed.slice(-3000))
  }
}
console.log(`not applicable: ${notApplicable.join(', ')}`)
process.exitCode = failures === 0 ? 0 : 1
