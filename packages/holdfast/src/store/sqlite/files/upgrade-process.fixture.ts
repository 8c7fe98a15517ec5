import { prepareStoreFile } from './database-file.ts'

// Opens a store to write and kills its own process at a step of the upgrade.
const [, , path = '', fatal = ''] = process.argv
const refusal = prepareStoreFile(path, {
  at: (step) => {
    if (step === fatal) process.kill(process.pid, 'SIGKILL')
  },
})
process.stdout.write(JSON.stringify(refusal))
