import { parentPort, workerData } from 'node:worker_threads'
import { type Job, runJob } from './job.ts'

if (parentPort === null) throw new Error('a job runs in a worker')

const job: Job = workerData // run-apart.ts hands it over, typed
parentPort.postMessage(await runJob(job))
