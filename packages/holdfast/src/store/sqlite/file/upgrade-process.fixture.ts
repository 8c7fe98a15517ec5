import { prepareStoreFile } from './database-file.ts'

// A process of its own that opens a store to write and dies, as by a power cut, at a step of its upgrade.
const [, , path = '', fatal = ''] = process.argv
const refusal = prepareStoreFile(path, {
  at: (step) => {
    if (step === fatal) process.kill(process.pid, 'SIGKILL')
  },
})
process.stdout.write(JSON.stringify(refusal))
