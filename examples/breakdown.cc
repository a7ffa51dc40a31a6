// Where the device time of a folder of traces goes: breakdown FOLDER
#include <borescope/borescope.h>

#include <iostream>

int main(int argc, char** argv) {
  const borescope::Result<borescope::Run> run = borescope::Run::Open({argc > 1 ? argv[1] : "."});
  if (!run.ok()) return std::cerr << run.error().Sentence() << '\n', 1;
  const borescope::Result<borescope::Answer> answer = run->Ask("breakdown");
  if (!answer.ok()) return std::cerr << answer.error().Sentence() << '\n', 1;
  std::cout << *answer->Render("text");
}
